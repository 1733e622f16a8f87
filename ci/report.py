#!/usr/bin/env python3
"""Draws what holds where, from the results of the matrix: a page with all of it, and a picture for the README.

    ci/test --all --json results.json
    ci/report.py results.json ... [--html docs/compatibility.html] [--svg docs/compatibility.svg] [--json docs/compatibility.json]

Without --html, --svg and --json it makes all three, there. Where several files have a cell, the last of them counts; a cell that was not
run in it keeps its earlier result: `ci/report.py docs/compatibility.json results.json` adds a run to those that are drawn already.
"""
import argparse
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if __package__ in (None, ""):  # run as a program
    sys.path.insert(0, os.path.dirname(HERE))
    from ci import bootstrap

    bootstrap.ensure()

from ci import matrix, report_page, report_picture, results
from ci.report_table import Table

DOCS = os.path.join(os.path.dirname(HERE), "docs")


def contract():
    """`{number: title}` of the clauses, in their order."""
    with open(os.path.join(DOCS, "contract.md"), encoding="utf-8") as stream:
        return dict(re.findall(r"^### (\d+\.\d+) (.+)$", stream.read(), re.M))


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="ci/report.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", nargs="+", help="what ci/test --json wrote")
    parser.add_argument("--html", help="write the page to this file")
    parser.add_argument("--svg", help="write the picture to this file")
    parser.add_argument("--json", help="write the results that were drawn to this file")
    options = parser.parse_args(argv)
    if not options.html and not options.svg and not options.json:
        kinds = ("html", "svg", "json")
        options.html, options.svg, options.json = (os.path.join(DOCS, "compatibility." + kind) for kind in kinds)
    found = results.read(options.results)
    found.pop("tools", None)  # the tests of ci/ itself: nothing about TensorFlow
    try:
        table = Table(matrix.read(), found, contract())
    except matrix.UnknownCell as error:
        sys.exit("ci/report.py: %s" % error)
    if options.html:
        report_page.write(table, options.html)
    if options.svg:
        report_picture.draw(table, options.svg)
    if options.json:
        results.write(options.json, [results.to_keep(found[cell.name]) for cell in matrix.read() if cell.name in found])


if __name__ == "__main__":
    main()
