#!/usr/bin/env python3
"""Writes what is derived from the table of cells: tox.ini, and the table that is part of the package.

`--check` only says whether they are up to date. The package's programs (`python -m tfgradcompat doctor`, `tox`) read
tfgradcompat/tools/matrix.json, since they have no folder ci/ and also run on Python 2.
"""
import argparse
import json
import os
import sys

if __package__ in (None, ""):  # run as a program
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from ci import matrix, pipsettings

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOX_INI = os.path.join(REPOSITORY, "tox.ini")
PACKAGED = os.path.join(REPOSITORY, "tfgradcompat", "tools", "matrix.json")

TEMPLATE = """\
# Written by ci/toxini.py from ci/matrix.tsv: change the table and run it again.

[tox]
# The last virtualenv that makes Python 2.7 and 3.6 environments; a newer tox installs
# an older one beside itself to get it.
requires = virtualenv<20.22
# A missing Python must be red: with "true" the run ends in congratulations.
skip_missing_interpreters = false
envlist =
{envlist}

[testenv]
package = wheel
wheel_build_env = .pkg
passenv =
    OPENBLAS_*
    OMP_*
    PIP_*
    REQUESTS_CA_BUNDLE
    SSL_CERT_FILE
setenv =
{setenv}
deps =
{deps}
commands = python {{toxinidir}}/ci/cell.py {{posargs}}
"""


def factors(cells, needing):
    """Shortest tox factors for `needing`: whole Pythons, then whole minors, then single cells."""
    left = list(needing)
    found = []
    for attribute, form in (("python", python_factor), ("tf_minor", minor_factor)):
        for value in dict.fromkeys(getattr(cell, attribute) for cell in cells):
            group = [cell for cell in cells if getattr(cell, attribute) == value]
            if set(group) <= set(needing) and set(group) & set(left):
                found.append(form(value))
                left = [cell for cell in left if cell not in group]
    return found + [cell.name for cell in left]


def python_factor(python):
    return "py" + python.replace(".", "")


def minor_factor(minor):
    return "tf" + minor


def render(cells):
    requirements = dict.fromkeys(r for cell in cells for r in cell.requirements)
    deps = []
    for requirement in requirements:
        needing = [cell for cell in cells if requirement in cell.requirements]
        prefix = "" if len(needing) == len(cells) else ",".join(factors(cells, needing)) + ": "
        deps.append(prefix + requirement)
    return TEMPLATE.format(
        envlist="\n".join("    " + cell.name for cell in cells),
        setenv="\n".join("    %s = %s" % pair for pair in sorted(pipsettings.PIP.items())),
        deps="\n".join("    " + line for line in deps),
    )


def render_packaged(cells):
    """The table as the package has it: pip's settings and, a line each, the cells."""
    lines = [
        json.dumps(
            {
                "name": cell.name,
                "minor": cell.tf_minor,
                "tensorflow": cell.tensorflow,
                "python": cell.python,
                "pins": cell.pins,
            },
            sort_keys=True,
        )
        for cell in cells
    ]
    return '{"pip": %s,\n "cells": [\n  %s\n]}\n' % (
        json.dumps(pipsettings.PIP, sort_keys=True),
        ",\n  ".join(lines),
    )


def derived():
    """The text of each derived file, by path."""
    cells = matrix.read()
    return {TOX_INI: render(cells), PACKAGED: render_packaged(cells)}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when out of date")
    options = parser.parse_args(argv)
    status = 0
    for path, wanted in derived().items():
        if not options.check:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(wanted)
        elif not is_there(path, wanted):
            print("%s does not agree with ci/matrix.tsv: run ci/toxini.py" % os.path.basename(path))
            status = 1
    return status


def is_there(path, wanted):
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as stream:
        return stream.read() == wanted


if __name__ == "__main__":
    sys.exit(main())
