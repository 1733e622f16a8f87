# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md, clauses 11.5 and 11.6: the printed tox.ini and the constraint files."""
from __future__ import absolute_import, division, print_function

import os
import subprocess
import sys

import pytest

import harness
from tfgradcompat import __main__
from tfgradcompat.tools import distributions, matrix, toxini

try:
    import configparser
except ImportError:  # Python 2
    import ConfigParser as configparser

pytestmark = pytest.mark.once

PYTHON = "%d.%d" % sys.version_info[:2]
CELLS = matrix.cells()


def printed(capsys, *arguments):
    assert __main__.main(["tox"] + list(arguments)) == 0
    return capsys.readouterr()


def parsed(text, folder):
    path = folder.join("tox.ini")
    path.write(text)
    parser = configparser.RawConfigParser()
    parser.read(str(path))
    return parser


def dependencies(parser, name):
    """What tox installs into the environment `name`, read from the file as tox reads it."""
    found = []
    for line in parser.get("testenv", "deps").strip().splitlines():
        factors, colon, requirement = line.rpartition(": ")
        groups = [set(group.split("-")) for group in factors.split(",")]
        if not colon or any(group <= set(name.split("-")) for group in groups):
            found.append(requirement)
    return found


@pytest.mark.clause("11.5")
@pytest.mark.parametrize("lists", [("0.12,1.x,2.x", None), ("1.8,1.15,2.1", "2.7"), ("2.20", "3.9,3.13"), ("1.8", "2.7")])
def test_each_environment_gets_what_was_tested_and_nothing_else(lists, capsys, tmpdir):
    releases, pythons = lists
    out = printed(capsys, "--tf", releases, *(["--python", pythons] if pythons else [])).out
    parser = parsed(out, tmpdir)
    names = parser.get("tox", "envlist").split()
    minors = releases.replace("1.x", "1.0,1.15").replace("2.x", "2.0,2.22").split(",")
    chosen = [cell for cell in CELLS if cell.name in names]
    assert set(minors) <= set(cell.minor for cell in chosen)
    assert set(cell.python for cell in chosen) == set(pythons.split(",") if pythons else [c.python for c in CELLS])
    for cell in chosen:
        assert sorted(dependencies(parser, cell.name)) == sorted(("pytest",) + cell.requirements)
    assert parser.get("tox", "skip_missing_interpreters") == "false"
    settings = dict(line.split(" = ") for line in parser.get("testenv", "setenv").strip().splitlines())
    assert settings == matrix.pip_settings()
    old = bool(set(["2.7", "3.6", "3.7", "3.8"]) & set(cell.python for cell in chosen))
    assert parser.has_option("tox", "requires") == old


@pytest.mark.clause("11.5")
def test_all_of_a_kind_and_pairs_that_do_not_exist(capsys):
    cells, without = toxini.choose("2.x", "2.7,3.13")
    assert [cell.name for cell in cells] == ["py27-tf2.0", "py27-tf2.1", "py313-tf2.20", "py313-tf2.21", "py313-tf2.22"]
    assert without == []
    captured = printed(capsys, "--tf", "1.8,2.20", "--python", "3.13")
    line = "Left out: TensorFlow 1.8 is tested on Python 2.7, 3.6 only"
    assert line in captured.err and "# %s." % line in captured.out
    assert "`python -m tfgradcompat tox --tf 1.8,2.20 --python 3.13`" in captured.out


@pytest.mark.clause("11.5")
@pytest.mark.parametrize("arguments, words", [
    (["--tf", "3.1"], "TensorFlow '3.1' is not in the table: name some of 0.12"),
    (["--tf", "1.8,"], "TensorFlow '' is not in the table"),
    (["--tf", "1.8.0"], "TensorFlow '1.8.0' is not in the table"),
    (["--tf", "1.8", "--python", "3.5"], "Python '3.5' is not in the table: name some of 2.7, 3.6"),
    (["--tf", "1.8", "--python", "3.13"], "no cell is left: TensorFlow 1.8 is tested on Python 2.7, 3.6 only"),
    ([], "--tf"),
])
def test_lists_that_cannot_be_right(arguments, words, capsys):
    with pytest.raises(SystemExit) as caught:
        __main__.main(["tox"] + arguments)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.clause("11.6")
def test_constraint_files(capsys, tmpdir):
    folder = tmpdir.join("deep", "constraints")
    printed(capsys, "--tf", "1.8,1.15", "--python", "2.7,3.7", "--constraints", str(folder))
    assert sorted(path.basename for path in folder.listdir()) == ["py27-tf1.15.txt", "py27-tf1.8.txt", "py37-tf1.15.txt"]
    lines = folder.join("py37-tf1.15.txt").read().splitlines()
    assert lines[0] == "# TensorFlow 1.15 on Python 3.7: pip install -c py37-tf1.15.txt tensorflow"
    assert lines[1:] == ["tensorflow==1.15.5", "protobuf<3.21", "numpy<1.24", "gast==0.2.2"]


@pytest.mark.clause("11.6")
def test_pip_finds_this_cell_as_its_constraint_file_wants_it(capsys, tmpdir):
    minor = "%d.%d" % harness.VERSION
    cell = [cell for cell in CELLS if cell.minor == minor and cell.python == PYTHON]
    package, version = distributions.providers("tensorflow")[1][0]
    if not cell or cell[0].tensorflow != "%s==%s" % (package, version):
        pytest.skip("TensorFlow %s from %s on Python %s is not in the table (11.6)" % (version, package, PYTHON))
    printed(capsys, "--tf", minor, "--python", PYTHON, "--constraints", str(tmpdir))
    installed = distributions.installed()
    for pin in cell[0].pins:
        name = matrix.name_of(pin)
        assert name not in installed or matrix.satisfies(installed[name], pin), pin
    # Without an index pip can only find that everything is there, as it should be.
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", "-c",
               str(tmpdir.join(cell[0].name + ".txt")), package]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = process.communicate()[0].decode("utf-8", "replace")
    assert process.returncode == 0, out


@pytest.mark.clause("11.5")
def test_without_tensorflow(tmpdir):
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__main__.__file__)))
    code = ("import sys; sys.modules['tensorflow'] = None; sys.path.append(%r); from tfgradcompat import __main__;"
            "sys.exit(__main__.main(['tox', '--tf', '1.8']))" % folder)
    out = subprocess.check_output([sys.executable, "-c", code], cwd=str(tmpdir)).decode("utf-8")
    assert "py27-tf1.8: tensorflow" not in out and "    tensorflow==1.8.0\n" in out


def test_versions_are_numbers():
    assert matrix.numbers("2.22.0rc0") == (2, 22, 0) and matrix.numbers("nightly") == ()
    assert matrix.satisfies("1.16.6", "numpy<1.17") and not matrix.satisfies("1.17", "numpy<1.17")
    assert matrix.satisfies("2.10.0", "h5py<3") and not matrix.satisfies("3.0", "h5py<3")
    assert matrix.satisfies("0.2.2.0", "gast==0.2.2") and not matrix.satisfies("0.2.10", "gast==0.2.2")
