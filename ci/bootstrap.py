"""Makes the tools environment and runs the calling program again inside it.

Only the standard library of Python 3.7 is used here and in what is imported here.
"""
import hashlib
import os
import subprocess
import sys

from ci import interpreters, locks

# virtualenv: the last release that makes environments of Python 2.7 and 3.6. From tox on: for the tests of ci/tests.
TOOLS = ("virtualenv==20.21.1", "setuptools", "wheel", "build", "tqdm", "pytest", "six", "tox")
TOOLS += ("matplotlib", "jinja2")  # for the pictures and pages: bench_picture.py, report.py, examples/draw.py
TOOLS += ("mypy",)  # for test_types.py, as is the numpy that matplotlib brings
TOOLS += ('vendoring; python_version >= "3.8"',)
# Written last into the environment, and by which a program knows that it runs in it.
MARKER = "tfgradcompat-tools"


def cache() -> str:
    """The folder for all that is made and kept: tools, environments, logs."""
    own = os.environ.get("TFGRADCOMPAT_CACHE")
    if own:
        return os.path.abspath(own)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tfgradcompat")


def ensure():
    """Returns when running in the tools environment; otherwise makes it and goes there."""
    if os.path.exists(os.path.join(sys.prefix, MARKER)):
        return
    interpreter = host()
    text = " ".join(TOOLS + tuple(interpreter))
    folder = os.path.join(cache(), "tools-" + hashlib.sha256(text.encode()).hexdigest()[:10])
    marker = os.path.join(folder, MARKER)
    with locks.Lock(os.path.join(cache(), "locks", os.path.basename(folder))):
        if not os.path.exists(marker):
            make(interpreter, folder)
            with open(marker, "w") as stream:
                stream.write(text + "\n")
    python = os.path.join(folder, "bin", "python")
    os.execv(python, [python] + sys.argv)


def host() -> interpreters.Interpreter:
    """The Python at hand, or a better one when it cannot make environments."""
    this = interpreters.probe(sys.executable)
    for python in ("3.11", "3.12", "3.10", "3.13", "3.9", "3.8", "3.7"):
        if this:
            return this
        this = interpreters.find(python)
    if this:
        return this
    sys.exit("The tests are run by a Python 3.7 or newer with the module venv: none found")


def make(interpreter, folder):
    print("Making the tools environment (once): %s" % folder, file=sys.stderr)
    subprocess.check_call([interpreter.path, "-m", "venv", "--clear", folder])
    pip = [os.path.join(folder, "bin", "python"), "-m", "pip", "install", "-qq"]
    subprocess.check_call(pip + ["--disable-pip-version-check"] + list(TOOLS))
