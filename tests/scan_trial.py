# -*- coding: utf-8 -*-
"""Scans the snippets of tests/scan_corpus and compares what is found with what their comments expect.

A file holds many snippets, each of which begins with a line `#### what it is` and is scanned as a file of its own. A
line on which something is to be found ends with `# expect: rule, rule`. What "harmless" snippets give is a false alarm.
"""
from __future__ import absolute_import, division, print_function

import collections
import glob
import io
import os
import re

from tfgradcompat.tools import scan, scan_checks

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scan_corpus")

Snippet = collections.namedtuple("Snippet", "name, source, expected")


def snippets(part):
    """The snippets of one part of the corpus."""
    found = []
    for path in sorted(glob.glob(os.path.join(CORPUS, part, "*.py"))):
        with io.open(path, encoding="utf-8") as stream:
            parts = re.split(r"(?m)^#### (.*)\n", stream.read())
        for title, source in zip(parts[1::2], parts[2::2]):
            expected = [(number, rule) for number, line in enumerate(source.split("\n"), 1)
                        for rule in re.findall(r"[\w-]+", (line.split("# expect:") + [""])[1])]
            found.append(Snippet("%s: %s" % (os.path.basename(path), title), source, sorted(expected)))
    return found


def found_in(snippet):
    """What the scan finds in a snippet, as (line, rule) pairs."""
    report = scan_checks.check(scan.parse(snippet.source.encode("utf-8")), snippet.name)
    return sorted((finding.line, finding.rule) for finding in scan_checks.settle([report]))


def trial(part):
    """(precision, recall, what is wrong as lines of text) of the scan over one part of the corpus."""
    right = false = missed = 0
    wrong = []
    for snippet in snippets(part):
        expected, found = collections.Counter(snippet.expected), collections.Counter(found_in(snippet))
        right += sum((expected & found).values())
        for kind, pairs in (("false", found - expected), ("missed", expected - found)):
            wrong += ["%s, line %d: %s %s" % (snippet.name, line, kind, rule) for line, rule in pairs.elements()]
        false += sum((found - expected).values())
        missed += sum((expected - found).values())
    return right / (right + false), right / (right + missed), wrong
