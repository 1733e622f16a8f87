"""tox.ini: what is in the checkout is what the table says."""
import configparser

import pytest

from ci import matrix, toxini

CELLS = matrix.read()


def tox_ini():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(toxini.TOX_INI)
    return parser


def dependencies(name):
    """What tox installs into an environment, read from the file as tox reads it."""
    for line in tox_ini()["testenv"]["deps"].strip().splitlines():
        factors, colon, requirement = line.rpartition(": ")
        groups = [set(group.split("-")) for group in factors.split(",")]
        if not colon or any(group <= set(name.split("-")) for group in groups):
            yield requirement


def test_file_is_the_one_the_table_gives():
    assert toxini.main(["--check"]) == 0


def test_check_finds_a_difference(monkeypatch, tmp_path, capsys):
    changed = tmp_path / "tox.ini"
    changed.write_text(toxini.render(CELLS[1:]))
    monkeypatch.setattr(toxini, "TOX_INI", str(changed))
    assert toxini.main(["--check"]) == 1
    assert "run ci/toxini.py" in capsys.readouterr().out
    assert toxini.main([]) == 0
    assert toxini.main(["--check"]) == 0


def test_has_every_cell_and_is_red_when_a_python_is_missing():
    section = tox_ini()["tox"]
    assert section["envlist"].split() == [cell.name for cell in CELLS]
    assert section["skip_missing_interpreters"] == "false"


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_environment_gets_what_the_cell_needs_and_nothing_else(cell):
    assert sorted(dependencies(cell.name)) == sorted(cell.requirements)
