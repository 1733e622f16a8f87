"""Finding Pythons: only those that really run, and a word on how to get the others."""
import os
import sys

from ci import interpreters

THIS = "%d.%d" % sys.version_info[:2]


def fake(folder, text):
    path = folder / ("python" + THIS)
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(0o755)
    return str(folder)


def test_finds_the_first_that_works(tmp_path):
    broken, good = tmp_path / "broken", tmp_path / "good"
    broken.mkdir(), good.mkdir()
    where = [fake(broken, "exit 127"), fake(good, 'exec "%s" "$@"' % sys.executable)]
    found = interpreters.find(THIS, where)
    assert os.path.samefile(found.path, sys.executable)
    assert found.version == "%d.%d.%d" % sys.version_info[:3]


def test_passes_over_one_of_another_version(tmp_path):
    where = [fake(tmp_path, "echo /usr/bin/python3.1; echo 3.1.5")]
    assert interpreters.find(THIS, where) is None


def test_none_where_there_is_none(tmp_path):
    assert interpreters.find("2.7", [str(tmp_path)]) is None


def test_looks_in_path_then_pyenv_then_uv(tmp_path, monkeypatch):
    pyenv = tmp_path / "pyenv" / "versions" / "2.7.18" / "bin"
    uv = tmp_path / "uv" / "cpython-3.9" / "bin"
    pyenv.mkdir(parents=True), uv.mkdir(parents=True)
    monkeypatch.setenv("PATH", "/first")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    assert interpreters.folders() == ["/first", str(pyenv), str(uv)]


def test_says_how_to_get_a_missing_one():
    assert "pyenv install 2.7.18" in interpreters.how_to_get("2.7")
    assert "pyenv install 3.13" in interpreters.how_to_get("3.13")
