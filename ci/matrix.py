"""The table of cells, matrix.tsv: the one place that says what is tested on what.

tox.ini is derived from it (toxini.py), and so is every environment of `ci/test`.
A cell is one TensorFlow minor release on one Python; its TensorFlow is the newest
patch that has a wheel for that Python. `core` marks a smaller set that still has
every TensorFlow minor in its newest patch, all that Python 2.7 and 3.13 can have, and
every Python.
"""
import csv
import os
from typing import List, NamedTuple, Sequence, Tuple

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matrix.tsv")

# The last pytest of each old Python, so that a new release of it changes nothing there.
PYTEST = {
    "2.7": "pytest==4.6.11",
    "3.6": "pytest==7.0.1",
    "3.7": "pytest==7.4.4",
    "3.8": "pytest==8.3.5",
    "3.9": "pytest==8.4.2",
}
NEWEST_PYTEST = "pytest>=9,<10"


class UnknownCell(ValueError):
    """A name that is not in the table."""


class Cell(NamedTuple):
    """One row of the table."""

    name: str
    tf_minor: str
    tf_version: str
    package: str
    python: str
    pins: Tuple[str, ...]
    core: bool

    @property
    def tensorflow(self) -> str:
        return "%s==%s" % (self.package, self.tf_version)

    @property
    def test_requirements(self) -> List[str]:
        """What the tests need besides TensorFlow. attrs: TensorFlow's nests have it."""
        needed = [PYTEST.get(self.python, NEWEST_PYTEST), "six>=1.15", "attrs"]
        if self.python == "2.7":
            needed.append("mock==3.0.5")  # unittest.mock came with Python 3
        return needed

    @property
    def requirements(self) -> List[str]:
        """All that pip is asked for, the project's own wheel excepted."""
        return [self.tensorflow] + list(self.pins) + self.test_requirements


def numbers(version: str) -> Tuple[int, ...]:
    """"2.10" -> (2, 10), for as text "2.10" < "2.9"."""
    return tuple(int(part) for part in version.split("."))


def read(path: str = TABLE) -> List[Cell]:
    with open(path, newline="", encoding="utf-8") as stream:
        rows = csv.DictReader(stream, delimiter="\t")
        return [
            Cell(
                row["cell"],
                row["tf_minor"],
                row["tf_version"],
                row["package"],
                row["python"],
                tuple(row["pins"].split()),
                {"yes": True, "no": False}[row["core"]],
            )
            for row in rows
        ]


def select(cells: List[Cell], names: Sequence[str] = (), everything: bool = False) -> List[Cell]:
    """The named cells, or all, or (with neither) the core ones; in the table's order."""
    unknown = sorted(set(names) - {cell.name for cell in cells})
    if unknown:
        raise UnknownCell(
            "no cell is named %s. Names look like %s; all of them are in ci/matrix.tsv"
            % (", ".join(repr(name) for name in unknown), cells[0].name)
        )
    if names:
        return [cell for cell in cells if cell.name in names]
    return [cell for cell in cells if everything or cell.core]


def newest_for(cells: List[Cell], python: str) -> Cell:
    """The cell with the newest TensorFlow that this Python ("3.11") can have."""
    fitting = [cell for cell in cells if cell.python == python]
    if not fitting:
        raise UnknownCell("no TensorFlow of ci/matrix.tsv installs on Python %s" % python)
    return max(fitting, key=lambda cell: numbers(cell.tf_minor))
