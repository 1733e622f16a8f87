# -*- coding: utf-8 -*-
"""Every clause of docs/contract.md has a test that carries its number, and no test carries a number that is none."""
from __future__ import absolute_import, division, print_function

import glob
import io
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
CONTRACT = os.path.join(HERE, os.pardir, "docs", "contract.md")


def read(path):
    with io.open(path, encoding="utf-8") as file:
        return file.read()


def clauses():
    return set(re.findall(r"^### (\d+\.\d+) ", read(CONTRACT), re.M))


def carried():
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "test_*.py"))):
        for number in re.findall(r"mark\.clause\(\"([^\"]+)\"\)", read(path)):
            found.setdefault(number, []).append(os.path.basename(path))
    return found


def test_every_clause_has_a_test():
    assert clauses(), "no clause found"
    assert sorted(clauses() - set(carried())) == []


def test_no_test_names_an_unknown_clause():
    unknown = set(carried()) - clauses()
    assert {number: carried()[number] for number in unknown} == {}


def test_clauses_stand_in_their_file():
    """Clause 2.3 is tested by test_2_*.py: a reader finds the tests of a section in one place (7.x also beside the others)."""
    strays = [(number, name) for number, names in carried().items() for name in names
              if not name.startswith("test_%s_" % number.split(".")[0])]
    assert strays == []
