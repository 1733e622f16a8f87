"""tox.ini and the package's table: what is in the checkout is what ci/matrix.tsv says."""
import configparser
import json

import pytest

from ci import matrix, pipsettings, toxini

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


def test_files_are_the_ones_the_table_gives():
    assert toxini.main(["--check"]) == 0


def test_check_finds_a_difference(monkeypatch, tmp_path, capsys):
    for attribute, name, render in (
        ("TOX_INI", "tox.ini", toxini.render),
        ("PACKAGED", "matrix.json", toxini.render_packaged),
    ):
        changed = tmp_path / name
        changed.write_text(render(CELLS[1:]))
        monkeypatch.setattr(toxini, attribute, str(changed))
        assert toxini.main(["--check"]) == 1
        assert "%s does not agree" % name in capsys.readouterr().out
        assert toxini.main([]) == 0
    changed.unlink()
    assert toxini.main(["--check"]) == 1
    assert toxini.main([]) == 0
    assert toxini.main(["--check"]) == 0


def test_has_every_cell_and_is_red_when_a_python_is_missing():
    section = tox_ini()["tox"]
    assert section["envlist"].split() == [cell.name for cell in CELLS]
    assert section["skip_missing_interpreters"] == "false"


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_environment_gets_what_the_cell_needs_and_nothing_else(cell):
    assert sorted(dependencies(cell.name)) == sorted(cell.requirements)


def test_package_has_the_cells_and_the_settings_of_pip():
    with open(toxini.PACKAGED, encoding="utf-8") as stream:
        packaged = json.load(stream)
    assert packaged["pip"] == pipsettings.PIP
    for row, cell in zip(packaged["cells"], CELLS):
        assert (row["name"], row["minor"], row["python"]) == (cell.name, cell.tf_minor, cell.python)
        assert [row["tensorflow"]] + row["pins"] == cell.requirements[: 1 + len(cell.pins)]
    assert len(packaged["cells"]) == len(CELLS)
