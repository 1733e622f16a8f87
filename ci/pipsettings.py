"""What makes pip install old TensorFlows from wheels, in seconds instead of minutes.

Not "everything only as a wheel": a few small requirements of old releases exist as
source only (scandir, absl-py, termcolor, gast 0.2.2, clang 5.0).
"""

# Compiled from source they take minutes, or cannot be compiled at all.
WHEEL_ONLY = (
    "numpy",
    "scipy",
    "h5py",
    "grpcio",
    "protobuf",
    "tensorflow",
    "tensorflow-cpu",
    "pandas",
    "ml-dtypes",
    "optree",
    "cryptography",
    "cffi",
    "libclang",
    "jaxlib",
)

PIP = {
    "PIP_PREFER_BINARY": "1",
    "PIP_ONLY_BINARY": ",".join(WHEEL_ONLY),
    # Only what is imported gets compiled. "no" switches it off; "1" would, of all
    # things, switch it on.
    "PIP_NO_COMPILE": "no",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # wrapt 1.12.1 (TensorFlow 2.4-2.6) is a source distribution with an optional C part.
    "WRAPT_INSTALL_EXTENSIONS": "false",
}
