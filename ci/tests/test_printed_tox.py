"""The tox.ini that `python -m tfgradcompat tox` prints for somebody's project, run by tox on three cells."""
import os
import shutil
import subprocess
import sys

import pytest

from ci import bootstrap, interpreters, locks

CELLS = {"py27-tf1.8": "2.7", "py36-tf1.8": "3.6", "py313-tf2.20": "3.13"}
LISTS = ["--tf", "1.8,2.20", "--python", "2.7,3.6,3.13"]

SETUP = """
from setuptools import find_packages, setup
setup(name="sample", version="1", packages=find_packages(include=["sample*"]),
      package_data={"sample.gradcopy.tools": ["*"]})
"""

TEST = """
import tensorflow as tf
from sample.gradcopy import custom_grad

tf1 = tf.compat.v1 if hasattr(tf, "compat") and hasattr(tf.compat, "v1") else tf

@custom_grad
def scaled(x):
    return x * 2., lambda dy: dy * 7.

def test_gradient():
    with tf.Graph().as_default():
        x = tf.constant(3.)
        gradient = tf1.gradients(scaled(x), x)[0]
        with tf1.Session() as session:
            assert session.run(gradient) == 7.
"""


@pytest.fixture
def project(target, tmp_path):
    """Somebody's project, with a copy of the package and the printed tox.ini."""

    def tfgradcompat(*arguments):
        command = [sys.executable, "-m", "tfgradcompat"] + list(arguments)
        return subprocess.check_output(command, cwd=str(target)).decode()

    (tmp_path / "sample").mkdir()
    (tmp_path / "sample" / "__init__.py").write_text("")
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "test_sample.py").write_text(TEST)
    tfgradcompat("vendor", "--six", str(tmp_path / "sample" / "gradcopy"))
    (tmp_path / "tox.ini").write_text(tfgradcompat("tox", *LISTS))
    return tmp_path


def test_tox_runs_it(project):
    missing = [python for python in CELLS.values() if not interpreters.find(python)]
    if missing:
        pytest.skip("; ".join(interpreters.how_to_get(python) for python in missing))
    env = {name: value for name, value in os.environ.items() if not name.startswith("TOX")}
    env["PATH"] = os.pathsep.join(interpreters.folders())
    env.pop("PYTHONPATH", None)
    # Kept, like the cells' environments: 2 GB, of which the first run takes minutes.
    kept = os.path.join(bootstrap.cache(), "tox-of-the-tests")
    command = [sys.executable, "-m", "tox", "--workdir", kept]
    with locks.Lock(os.path.join(bootstrap.cache(), "locks", "tox-of-the-tests")):
        process = subprocess.run(
            command,
            cwd=str(project),
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        shutil.rmtree(os.path.join(kept, ".pkg"), ignore_errors=True)
    out = process.stdout.decode()
    assert process.returncode == 0, out
    for name in CELLS:
        assert "  %s: OK" % name in out
    assert out.count("1 passed") == len(CELLS)
