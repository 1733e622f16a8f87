"""Packaging. One pure-Python wheel for Python 2.7 and 3.6-3.13.

TensorFlow is never required: its name differs by release and machine
(tensorflow, tensorflow-cpu, tf-nightly, ...), and a requirement would make pip
replace the one the user has. The extras are there for those who have none.
"""
import io
import os

from setuptools import find_packages, setup

HERE = os.path.dirname(os.path.abspath(__file__))


def readme():
    path = os.path.join(HERE, "README.md")
    if not os.path.exists(path):
        return ""
    with io.open(path, encoding="utf-8") as stream:
        return stream.read()


setup(
    name="tfgradcompat",
    # Stands in tfgradcompat/__init__.py too; tests/test_packaging.py compares the two.
    version="0.1.0",
    description="A function with its own gradient, right on every TensorFlow from 0.12 to 2.22",
    long_description=readme(),
    long_description_content_type="text/markdown",
    author="The tfgradcompat authors",
    license="Apache-2.0",
    packages=find_packages(include=["tfgradcompat", "tfgradcompat.*"]),
    package_data={
        # The licence goes inside the package too, so that a vendored copy carries it.
        "tfgradcompat": ["LICENSE", "py.typed", "*.pyi"],
        "tfgradcompat.tools": ["digits.csv.gz", "digits.txt", "matrix.json"],
    },
    python_requires=">=2.7, !=3.0.*, !=3.1.*, !=3.2.*, !=3.3.*, !=3.4.*, !=3.5.*",
    # TensorFlow 2.4-2.6 require six~=1.15.0: a higher bound here would shut them out.
    install_requires=["six>=1.15", "numpy"],
    extras_require={
        "tf": ["tensorflow"],
        "tf-cpu": ["tensorflow-cpu"],
        "test": ["pytest"],
    },
    zip_safe=False,
    keywords="tensorflow gradient autodiff custom_gradient compatibility",
    classifiers=[
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 2.7",
        "Programming Language :: Python :: 3.6",
        "Programming Language :: Python :: 3.7",
        "Programming Language :: Python :: 3.8",
        "Programming Language :: Python :: 3.9",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
