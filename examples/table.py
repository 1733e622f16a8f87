"""The table of figures in docs/examples.md, from what the examples wrote with --json on several TensorFlow releases.

    python3 examples/table.py FILE.json ... [--write docs/examples.md]
"""
from __future__ import absolute_import, division, print_function

import argparse
import io
import json
import re

import numpy as np

BEGIN, END = u"<!-- figures: made by examples/table.py -->", u"<!-- end of figures -->"
ORDER = ("guided_backprop", "domain_adaptation", "binarised_network", "recompute_memory")


def read(paths):
    """`{example: its numbers, the oldest release first}`."""
    found = {}
    for path in paths:
        with io.open(path, encoding="utf-8") as stream:
            numbers = json.load(stream)
        found.setdefault(numbers["example"], []).append(numbers)
    return dict((example, sorted(all_numbers, key=release)) for example, all_numbers in found.items())


def release(numbers):
    return [int(part) for part in minor(numbers).split(".")]


def minor(numbers):
    return ".".join(numbers["tensorflow"].split(".")[:2])


def percent(value):
    return u"%.1f %%" % (100. * value)


def ends(curves):
    """The last points, as mean and range over seeds."""
    last = [curve[-1] for curve in curves]
    return percent(np.mean(last)) + (u" (%.0f–%.0f)" % (100. * min(last), 100. * max(last)) if len(last) > 1 else u"")


def guided_backprop(numbers):
    yield u"accuracy on held-out digits", percent(numbers["accuracy"])
    for name in ("plain", "guided"):
        found = numbers[name]
        yield u"%s: part of the gradient on ink" % name, percent(found["on ink"])
        yield u"%s: part of it that is negative" % name, percent(found["negative"])
        yield u"%s: correlation with the image" % name, u"%.2f" % found["like the image"]
        yield u"%s: correlation with the second best class" % name, u"%.2f" % found["like the second class"]


def domain_adaptation(numbers):
    for name in ("without reversal", "with reversal"):
        for what, text in (("target", u"accuracy on the target"), ("source", u"accuracy on the source"),
                           ("domains", u"domains told apart")):
            yield u"%s: %s" % (name, text), ends(numbers[name][what])


def binarised_network(numbers):
    for name in ("not binarised", "straight-through", "true gradient"):
        yield u"%s: accuracy" % name, ends(numbers["accuracies"][name])


def recompute_memory(numbers):
    for depth, plain, ours in zip(numbers["depths"], numbers["plain"], numbers["recompute"]):
        yield u"%d layers, plain against recompute" % depth, u"%.0f MB, %.0f MB" % (plain["megabytes"], ours["megabytes"])


def table(results):
    """Lines of Markdown."""
    releases = [minor(numbers) for numbers in results[ORDER[0]]]
    yield u"| | %s |" % u" | ".join(u"TensorFlow %s" % name for name in releases)
    yield u"|---" * (1 + len(releases)) + u"|"
    for example in ORDER:
        yield u"| **%s** |%s" % (example, u" |" * len(releases))
        for rows in zip(*[globals()[example](numbers) for numbers in results[example]]):
            yield u"| %s | %s |" % (rows[0][0], u" | ".join(value for _, value in rows))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--write", help="put it into this file, in the place of the last one")
    options = parser.parse_args(argv)
    text = u"\n".join(table(read(options.files)))
    if not options.write:
        print(text)
        return
    with io.open(options.write, encoding="utf-8") as stream:
        before = stream.read()
    after, count = re.subn(u"(?s)%s.*%s" % (BEGIN, END), lambda _: u"\n".join((BEGIN, text, END)), before)
    if count != 1:
        parser.error("%s has no place for it: %s ... %s" % (options.write, BEGIN, END))
    with io.open(options.write, "w", encoding="utf-8") as stream:
        stream.write(after)


if __name__ == "__main__":
    main()
