"""The wheel, and small environments in the place of those with TensorFlow."""
import os
import subprocess
import sys

import pytest

from ci import environments, interpreters, runner, wheels

TESTS = """
import os
def test_it():
    assert os.environ["CELL"] not in os.environ.get("BAD_CELLS", "").split()
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The path of the project's wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    with open(str(folder / "log"), "w") as log:
        return wheels.build(str(folder), log)


@pytest.fixture(scope="session")
def target(wheel, tmp_path_factory):
    """A folder with the package in it, put there by `pip install -t` from the wheel."""
    folder = tmp_path_factory.mktemp("target")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.check_call(pip + ["--disable-pip-version-check", "-t", str(folder), wheel])
    return folder


@pytest.fixture
def fakes(tmp_path, monkeypatch):
    """Each environment's Python is this one, and its TensorFlow a file with a version."""
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "tensorflow.py").write_text("__version__ = '1.3.0'\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(TESTS)

    def build_environment(cell, interpreter, path, log):
        if cell.name in os.environ.get("NO_INSTALL", "").split():
            raise environments.InstallFailed("no such release")
        os.makedirs(os.path.join(path, "bin"))
        python = os.path.join(path, "bin", "python")
        with open(python, "w") as stream:
            stream.write("#!/bin/sh\nexport CELL=%s PYTHONPATH=%s\n" % (cell.name, fake))
            stream.write('exec "%s" "$@"\n' % sys.executable)
        os.chmod(python, 0o755)

    monkeypatch.setenv("TFGRADCOMPAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(environments, "build_environment", build_environment)
    monkeypatch.setattr(environments, "install_wheel", lambda *unused: None)
    monkeypatch.setattr(wheels, "build", lambda *unused: "some.whl")
    found = interpreters.Interpreter(sys.executable, "3.6.15")
    monkeypatch.setattr(runner, "find_interpreter", lambda python: found)
    return tmp_path
