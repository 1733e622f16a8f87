"""The table: complete, consistent, and with a core that leaves nothing out."""
import collections

import pytest

from ci import matrix

CELLS = matrix.read()
CORE = matrix.select(CELLS)


def test_has_every_pair_of_minor_and_python():
    assert len(CELLS) == 122
    assert len({cell.tf_minor for cell in CELLS}) == 40
    assert len({cell.name for cell in CELLS}) == 122
    pythons = collections.Counter(cell.python for cell in CELLS)
    assert pythons["2.7"] == 19
    assert pythons["3.13"] == 3


@pytest.mark.parametrize("cell", CELLS, ids=[cell.name for cell in CELLS])
def test_row_agrees_with_itself(cell):
    assert cell.name == "py%s-tf%s" % (cell.python.replace(".", ""), cell.tf_minor)
    assert cell.tf_version.startswith(cell.tf_minor + ".")
    assert cell.package in ("tensorflow", "tensorflow-cpu")


def patch(cell):
    return matrix.numbers(cell.tf_version.replace("rc", "."))


def test_core_has_the_newest_patch_of_every_minor():
    newest = {}
    for cell in CELLS:
        newest[cell.tf_minor] = max(newest.get(cell.tf_minor, ()), patch(cell))
    for minor, version in newest.items():
        assert version in [patch(cell) for cell in CORE if cell.tf_minor == minor]


def test_core_has_all_of_the_oldest_and_the_newest_python():
    for cell in CELLS:
        assert cell.core or cell.python not in ("2.7", "3.13")


def test_core_has_every_python_and_no_more_cells_than_needed():
    assert {cell.python for cell in CORE} == {cell.python for cell in CELLS}
    assert len(CORE) == 43


def test_selects_by_name_in_the_order_of_the_table():
    chosen = matrix.select(CELLS, ["py313-tf2.22", "py27-tf1.8"])
    assert [cell.name for cell in chosen] == ["py27-tf1.8", "py313-tf2.22"]
    assert matrix.select(CELLS, everything=True) == CELLS


def test_unknown_name_is_an_error_that_shows_how_names_look():
    with pytest.raises(matrix.UnknownCell, match=r"'py26-tf1.8'.*py27-tf0.12.*matrix\.tsv"):
        matrix.select(CELLS, ["py27-tf1.8", "py26-tf1.8"])


def test_newest_compares_numbers_not_text():
    assert matrix.newest_for(CELLS, "3.9").tf_minor == "2.20"
    with pytest.raises(matrix.UnknownCell, match="Python 3.5"):
        matrix.newest_for(CELLS, "3.5")
