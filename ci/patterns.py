#!/usr/bin/env python3
"""The table of patterns in docs/migrating.md, from a run of the matrix.

    ci/test --json results.json     # or only these tests: --pytest="-k test_10_patterns"
    python3 ci/patterns.py results.json [--write docs/migrating.md]

A row is a pattern (the mark of a test in tests/test_10_patterns.py); its columns say on which
TensorFlow it passed in each mode, through every route and on every Python that was run.
"""
import argparse
import json
import os
import re
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from ci import matrix
from ci.ranges import ranges

MODES = {
    "graph": "graph",
    "eager": "eager",
    "function": "function, tape outside",
    "function_inside": "function, tape inside",
}
BEGIN, END = "<!-- patterns: made by ci/patterns.py -->", "<!-- end of patterns -->"


def outcomes(results, minor_of):
    """`{pattern: {mode: {TensorFlow minor: whether it passed everywhere}}}` of ci/test's JSON."""
    found = {}
    for result in results:
        for counts in result["setups"].values():
            for pattern, modes in counts.get("patterns", {}).items():
                for mode, passed in modes.items():
                    minors = found.setdefault(pattern, {}).setdefault(mode, {})
                    minor = minor_of[result["name"]]
                    minors[minor] = passed and minors.get(minor, True)
    return found


def table(found, order):
    """Lines of Markdown."""
    yield "| pattern | %s |" % " | ".join(MODES.values())
    yield "|---" * (1 + len(MODES)) + "|"
    for pattern, modes in found.items():
        cells = []
        for mode in MODES:
            minors = modes.get(mode, {})
            cells.append(ranges([m for m, passed in minors.items() if passed], order))
            failed = [m for m, passed in minors.items() if not passed]
            if failed:
                cells[-1] += "; **failed: %s**" % ranges(failed, order)
        yield "| %s | %s |" % (pattern, " | ".join(cells))


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", help="what ci/test --json wrote")
    parser.add_argument("--write", help="put it into this file, in the place of the last one")
    options = parser.parse_args(argv)
    cells = matrix.read()
    results = []
    for path in options.results:
        with open(path) as stream:
            results += json.load(stream)
    order = list(dict.fromkeys(cell.tf_minor for cell in cells))
    found = outcomes(results, {cell.name: cell.tf_minor for cell in cells})
    text = "\n".join(table(found, order))
    if not options.write:
        print(text)
        return
    with open(options.write, encoding="utf-8") as stream:
        before = stream.read()
    after, count = re.subn(
        "(?s)%s.*%s" % (BEGIN, END), lambda _: "%s\n%s\n%s" % (BEGIN, text, END), before
    )
    if count != 1:
        sys.exit("%s has no place for it: %s ... %s" % (options.write, BEGIN, END))
    with open(options.write, "w", encoding="utf-8") as stream:
        stream.write(after)


if __name__ == "__main__":
    main()
