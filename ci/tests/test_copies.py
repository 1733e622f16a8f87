"""Copies of the package that others' tools make of the wheel. (tests/test_11_vendor.py tries copies with TensorFlow.)"""
import json
import os
import subprocess
import sys

import pytest

CONFIGURATION = """
[tool.vendoring]
destination = "project/_vendor/"
requirements = "project/_vendor/vendor.txt"
namespace = "project._vendor"
protected-files = ["__init__.py", "vendor.txt"]
"""


def run(arguments, folder):
    """Runs this Python in a folder; returns (status, output)."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.run(
        [sys.executable] + arguments,
        cwd=str(folder),
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return process.returncode, process.stdout.decode()


def test_pip_install_to_a_folder(target):
    os.rename(str(target / "tfgradcompat"), str(target / "renamed"))
    try:
        status, out = run(["-m", "renamed", "doctor", "--json"], target)
    finally:
        os.rename(str(target / "renamed"), str(target / "tfgradcompat"))
    assert status == 2  # the tools environment has no TensorFlow
    assert json.loads(out)["package"]["folder"] == str(target / "renamed")


def test_vendoring_tool(wheel, tmp_path):
    pytest.importorskip("vendoring", reason="it needs Python 3.8")
    folder = tmp_path / "project" / "_vendor"
    folder.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
    (tmp_path / "project" / "__init__.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "vendor.txt").write_text("tfgradcompat @ file://%s\nsix\n" % wheel)
    status, out = run(["-m", "vendoring", "sync"], tmp_path)
    assert status == 0, out
    for name in ("LICENSE", "py.typed", "__init__.pyi"):
        assert (folder / "tfgradcompat" / name).exists()
    code = "from project._vendor.tfgradcompat import compat; print(compat.six.__name__)"
    assert run(["-c", code], tmp_path) == (0, "project._vendor.six\n")
    status, out = run(["-m", "project._vendor.tfgradcompat", "doctor"], tmp_path)
    assert status == 2 and "there is no TensorFlow to try" in out, out
    status, out = run(["-m", "project._vendor.tfgradcompat", "tox", "--tf", "1.8"], tmp_path)
    assert status == 0 and "tensorflow==1.8.0" in out, out
