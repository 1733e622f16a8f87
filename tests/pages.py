# -*- coding: utf-8 -*-
"""The documentation's pages for the tests: their blocks of code, and what a block promises.

In a Python block each comment at the start of a line is a promise:

    # f(2., w=3.) is 6. with the gradients 3., 1.
    # graph, 1.7 and newer: f([1.]) is [1.] with the gradient [1.] (wrong)
    # eager, before 2.0: f([1.]) raises RuntimeError: eager mode
    # before 1.7: raises AttributeError: custom_gradient
    # graph: trained() is 0.95

What is given by name reaches `f` as a variable. A promise that begins with modes, releases or both is about these only, and a block
whose promises are all about other releases is not run. "raises" alone speaks of the block itself; the words after the error are in its
text. What is "(wrong)" somewhere is right elsewhere on the page. "(prints TEXT)" and "(prints nothing)" speak of stderr. A function
without arguments is called as it is.

A block that begins with the name of a file, `# model.py`, is that file for the commands of its page (test_11_pages.py).
"""
from __future__ import absolute_import, division, print_function

import collections
import glob
import io
import os
import re

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir)
README = os.path.join(ROOT, "README.md")

Block = collections.namedtuple("Block", "language line text")
Promise = collections.namedtuple("Promise", "line modes releases function arguments value gradients error words wrong prints")

MODES = {"graph": ["graph"], "eager": ["eager"], "function": ["function", "function_inside"], "tape outside": ["function"],
         "tape inside": ["function_inside"]}
PROMISE = re.compile(r"""
    \#\ (?:(?P<where>[^:()]+):\ )?
    (?:(?P<function>\w+)\((?P<arguments>.*)\)\ )?
    (?:is\ (?P<value>.+?)(?:\ with\ the\ gradients?\ (?P<gradients>.+?))?|raises\ (?P<error>[\w.]+):\ (?P<words>.+?))
    (?:\ \((?:(?P<wrong>wrong)|prints\ (?P<prints>.+))\))?$""", re.X)
FILE = re.compile(r"# ([\w/]+\.py)\n")
OLDEST, NEWEST = (0, 0), (99, 0)


def names():
    """The pages, as paths from the root of the repository."""
    return ["README.md"] + sorted("docs/" + os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "docs", "*.md")))


def read(page):
    with io.open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks(page):
    text = read(page)
    return [Block(found.group(1), text.count("\n", 0, found.start(2)) + 1, found.group(2))
            for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)]


def examples(page):
    """The Python blocks that are no files."""
    return [block for block in blocks(page) if block.language == "python" and not file_name(block)]


def file_name(block):
    found = FILE.match(block.text)
    return found.group(1) if found else None


def promises(block):
    """Raises ValueError at a comment that is none."""
    return [promise(block.line + i, line) for i, line in enumerate(block.text.splitlines()) if line.startswith("#")]


def promise(line, text):
    found = PROMISE.match(text)
    if not found:
        raise ValueError("line %d is not a promise: %s" % (line, text))
    parts = found.groupdict()
    modes, releases = where(parts.pop("where"))
    return Promise(line, modes, releases, **parts)


def where(text):
    """`(modes, (first release, last release))` of the beginning of a promise; with None for all modes."""
    modes, releases = [], (OLDEST, NEWEST)
    for part in text.split(", ") if text else []:
        if part in MODES:
            modes += MODES[part]
        else:
            releases = range_of(part)
    return modes or None, releases


def range_of(text):
    found = re.match(r"(before )?(\d+\.\d+)(?:-(\d+\.\d+)| (and newer))?$", text)
    if not found:
        raise ValueError("neither modes nor releases: %s" % text)
    first = release(found.group(2))
    if found.group(1):
        return OLDEST, (first[0], first[1] - 1)  # sorts before the release and after all that are before it
    return first, release(found.group(3)) if found.group(3) else NEWEST if found.group(4) else first


def release(text):
    return tuple(int(part) for part in text.split("."))


def speaks_of(promise, version, mode=None):
    """Whether a promise is about this release and, if one is given, this mode."""
    first, last = promise.releases
    return first <= version <= last and (mode is None or promise.modes is None or mode in promise.modes)
