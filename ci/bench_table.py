# -*- coding: utf-8 -*-
"""The figures of bench.py as text: one table per release, or one of several releases, for the README.

    python ci/bench_table.py FILE.json ...
"""
from __future__ import absolute_import, division, print_function

import json
import sys


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.


# ------------------------------------------------------------------------------------------------------------ one release
def heading(ways):
    return "%-38s" % "" + "".join("%11s" % way for way in ways) + "    ratio"


def text(line, ways):
    """A line of the table; the ratio is ours to what `against` says."""
    cells = "".join("%11s" % cell(line, way) for way in ways)
    found = ratio(line)
    unit = " [%s]" % line["unit"] if line["unit"] else ""
    return "%-38s" % (line["title"] + unit) + cells + ("" if found is None else "    %.3f of %s" % (found, against(line)))


def cell(line, way):
    measured = line["ways"].get(way, {})
    if "capped" in measured:
        return ">%d s" % measured["capped"]
    if line["clock"] not in measured:
        return "failed" if "failed" in measured else "-"
    return "%.1f" % (measured[line["clock"]] * (1e6 if line["unit"] == "us" else 1.))


def against(line):
    """The way that ours is compared with: native where it was measured, but steps with the plain identity."""
    order = {"step": ["identity"], "ready": ["override"], "size": ["native", "per call"]}.get(
        line["section"], ["native", "per call", "override"])
    measured = [way for way in order if line["clock"] in line["ways"].get(way, {})]
    return measured[0] if measured else None


def ratio(line):
    other = against(line)
    ours = line["ways"].get("ours", {}).get(line["clock"])
    return ours / line["ways"][other][line["clock"]] if other and ours is not None and line["ways"][other][line["clock"]] else None


def notes(found):
    """What the dashes and failures of a table mean."""
    reasons = {}
    for line in found["lines"]:
        for way, measured in line["ways"].items():
            why = measured.get("missing") or measured.get("failed")
            if why:
                reasons.setdefault("%s: %s" % (way, why), []).append(line["title"])
    if any("capped" in measured for line in found["lines"] for measured in line["ways"].values()):
        yield ">: left out, since one measurement was predicted to take so long, going by the smaller ones"
    for reason, titles in sorted(reasons.items()):
        yield "-  %s (%s%s)" % (reason, titles[0], ", ..." if len(titles) > 1 else "")


# --------------------------------------------------------------------------------------------------------- several releases
def growth(found, variant, way="ours"):
    """What a call costs at the largest measured size against the smallest one; None where there is one size or none."""
    sizes = [(line["options"]["count"], line["ways"].get(way, {}).get("cpu")) for line in found["lines"]
             if line["options"].get("variant") == variant]
    measured = [(count, seconds) for count, seconds in sizes if seconds]
    return measured[-1][1] / measured[0][1] if len(measured) > 1 else None


def rows(results):
    """`(label, one text per release)`: ratios of ours to another way, for each line that a release has."""
    yield "`import`, no TensorFlow", ["%.1f ms" % (1e3 * found["import"]) if "import" in found else "-" for found in results]
    seen = []  # titles; "memory" is not a ratio
    for found in results:
        seen.extend(line["title"] for line in found["lines"] if line["title"] not in seen and line["section"] != "memory")
    for title in seen:
        cells = []
        for found in results:
            line = next((line for line in found["lines"] if line["title"] == title), None)
            cells.append("-" if line is None else ratio_text(line))
        yield title, cells
    for variant in ("plain", "capturing", "variables", "inputs"):
        for way in ("ours", "native"):
            yield "growth from the smallest size, %s, %s" % (variant, way), [
                "-" if growth(found, variant, way) is None else "%.2f" % growth(found, variant, way) for found in results]
    for title in ("memory of a call, graph alive", "memory of a call, graph gone"):
        yield title + ", ours", ["%.1f KB" % (line["ways"]["ours"][line["clock"]] / 1e3) for found in results
                                 for line in found["lines"] if line["title"] == title]


def ratio_text(line):
    found, other = ratio(line), against(line)
    if found is not None:
        return "%.2f" % found + ("*" if line["section"] == "build" and other != "native" else "")
    return "-"


def markdown(results):
    releases = ["%s" % found["tensorflow"] for found in results]
    yield "| | %s |" % " | ".join(releases)
    yield "|---|%s" % ("---|" * len(releases))
    for label, cells in rows(results):
        if set(cells) != {"-"}:
            yield "| %s | %s |" % (label, " | ".join(cells))


def read(paths):
    """The results in these files, in the order of the releases."""
    results = []
    for path in paths:
        with open(path) as file:
            results.append(json.load(file))
    return sorted(results, key=lambda found: [int(part) for part in found["tensorflow"].split(".")[:2]])


if __name__ == "__main__":
    print("\n".join(markdown(read(sys.argv[1:]))))
