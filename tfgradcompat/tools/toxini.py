"""Prints a tox.ini for your project: its tests on the TensorFlow releases and Pythons that you name.

What each release needs beside it, from numpy to grpcio, comes from the table on which this package is tested: with it a
TensorFlow 1.8 on Python 2.7 is installed from wheels, in seconds.

  %(prog)s --tf 1.8,1.15,2.x --python 2.7,3.7 > tox.ini

"2.x" is every release of TensorFlow 2. Constraint files are for pip alone: pip install -c DIR/py27-tf1.8.txt tensorflow
"""
from __future__ import absolute_import, division, print_function

import io
import os
import sys

from . import matrix

OLD_PYTHONS = ("2.7", "3.6", "3.7", "3.8")

HEAD = """\
# Printed by `%(command)s`.
# The versions are those with which TensorFlow was tested there.
%(without)s
[tox]
%(requires)s# A Python that is not found must be red: with "true" the run ends in congratulations.
skip_missing_interpreters = false
# If your project has no setup.py or pyproject.toml, add: skipsdist = true
envlist =
%(envlist)s

[testenv]
setenv =
%(setenv)s
deps =
    pytest
%(deps)s
commands = python -m pytest {posargs}
"""

REQUIRES = """\
# The last virtualenv that makes environments of all Pythons from 2.7 on; tox gets it by itself.
requires = virtualenv<20.22
"""


def add_arguments(parser):
    parser.add_argument("--tf", required=True, metavar="LIST", help="for example 1.8,1.15,2.x")
    parser.add_argument("--python", metavar="LIST", help="for example 2.7,3.7 (default: all)")
    parser.add_argument("--constraints", metavar="DIR", help="also write a constraint file for each environment")
    parser.set_defaults(error=parser.error)


def run(arguments):
    """Prints the file, writes the constraint files, and returns the exit status; 2 where the lists cannot be right."""
    try:
        cells, without = choose(arguments.tf, arguments.python)
    except ValueError as error:
        return arguments.error(str(error))  # ends the program
    for line in without:
        sys.stderr.write("Left out: %s\n" % line)
    sys.stdout.write(render(cells, command(arguments), without))
    if arguments.constraints:
        write_constraints(arguments.constraints, cells)
    return 0


def choose(releases, pythons=None):
    """The cells that are asked for.

    Args:
      releases: "1.8,1.15,2.x", where "2.x" stands for all of TensorFlow 2.
      pythons: "2.7,3.7"; None stands for all.

    Returns:
      The cells, and a line for each named release that none of these Pythons can have.

    Raises:
      ValueError: a name is not in the table, or no cell is left.
    """
    table = matrix.cells()
    minors = _in_order(cell.minor for cell in table)
    known = sorted(set(cell.python for cell in table), key=matrix.numbers)
    pythons = pythons.split(",") if pythons else known
    for python in pythons:
        if python not in known:
            raise ValueError("Python %r is not in the table: name some of %s" % (python, ", ".join(known)))
    wanted, without = set(), []
    for part in releases.split(","):
        named = [minor for minor in minors if minor == part or minor.split(".")[0] + ".x" == part]
        if not named:
            raise ValueError("TensorFlow %r is not in the table: name some of %s, or 1.x or 2.x for all of them" % (
                part, ", ".join(minors)))
        there = [cell for cell in table if cell.minor in named]
        wanted.update(cell for cell in there if cell.python in pythons)
        if not wanted.intersection(there):
            without.append("TensorFlow %s is tested on Python %s only" % (
                part, ", ".join(_in_order(cell.python for cell in there))))
    if not wanted:
        raise ValueError("no cell is left: " + "; ".join(without))
    return [cell for cell in table if cell in wanted], without


def command(arguments):
    """The command line that gives the same file, whatever the package is called here."""
    parts = ["python -m", __name__.rpartition(".tools.")[0], "tox", "--tf", arguments.tf]
    return " ".join(parts + (["--python", arguments.python] if arguments.python else []))


def render(cells, how, without=()):
    """The text of tox.ini for some cells of the table."""
    deps = []
    for requirement in _in_order(r for cell in cells for r in cell.requirements):
        needing = [cell for cell in cells if requirement in cell.requirements]
        deps.append(requirement if needing == cells else "%s: %s" % (",".join(factors(cells, needing)), requirement))
    return HEAD % {
        "command": how,
        "without": "".join("# Left out: %s.\n" % line for line in without),
        "requires": REQUIRES if any(cell.python in OLD_PYTHONS for cell in cells) else "",
        "envlist": "\n".join("    " + cell.name for cell in cells),
        "setenv": "\n".join("    %s = %s" % pair for pair in sorted(matrix.pip_settings().items())),
        "deps": "\n".join("    " + line for line in deps)}


def factors(cells, needing):
    """What tox calls the cells in `needing`: "py27" for all of a Python, the others by their names."""
    found, left = [], list(needing)
    for python in _in_order(cell.python for cell in cells):
        group = [cell for cell in cells if cell.python == python]
        if len(group) > 1 and all(cell in needing for cell in group):
            found.append("py" + python.replace(".", ""))
            left = [cell for cell in left if cell not in group]
    return found + [cell.name for cell in left]


def write_constraints(folder, cells):
    """Writes a file for each cell: a header, and a version or bound on each line."""
    if not os.path.isdir(folder):
        os.makedirs(folder)
    for cell in cells:
        head = "# TensorFlow %s on Python %s: pip install -c %s.txt %s" % (
            cell.minor, cell.python, cell.name, cell.tensorflow.split("==")[0])
        with io.open(os.path.join(folder, cell.name + ".txt"), "w", encoding="utf-8") as stream:
            stream.write(u"\n".join((head,) + cell.requirements) + u"\n")


def _in_order(values):
    found = []
    for value in values:
        if value not in found:
            found.append(value)
    return found
