# -*- coding: utf-8 -*-
"""The Python examples of README.md and docs/, run as they are written there, and what they promise, in every mode (see pages.py).

Each block runs once per process, in what the blocks before it on its page have defined; then its functions named test_... are called.
"""
from __future__ import absolute_import, division, print_function

import __future__
import os
import re
import traceback

import numpy as np
import pytest
import tensorflow as tf

import pages
from harness import VERSION, check, variable
from tfgradcompat.tools import matrix

WITH_EXAMPLES = [page for page in pages.names() if pages.examples(page)]
RUN = {}  # {page: [(promises, scope, the error that the block raised)]}


# ------------------------------------------------------------------------------------------------------------ the examples
def run(page):
    """Runs the blocks that are for this release."""
    if page not in RUN:
        found, names = [], {}
        for block in pages.examples(page):
            promises = [promise for promise in pages.promises(block) if pages.speaks_of(promise, VERSION)]
            if not promises and pages.promises(block):
                continue
            scope = dict(names)  # a copy, so that a later block of the page cannot change what this one has defined
            if any(not promise.function for promise in promises):
                with pytest.raises(Exception) as caught:
                    execute(page, block, scope)
                found.append((promises, None, caught.value))
            else:
                execute(page, block, scope)
                for name in sorted(set(scope) - set(names)):
                    if name.startswith("test_"):
                        scope[name]()
                found.append((promises, scope, None))
                names = scope
        RUN[page] = found
    return RUN[page]


def execute(page, block, scope):
    """Runs a block with the `from __future__` of the blocks before it, and without that of this file."""
    flags = sum(value.compiler_flag for value in scope.values() if isinstance(value, __future__._Feature))
    exec(compile("\n" * (block.line - 1) + block.text, page, "exec", flags, True), scope)


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_promises(mode, page, capfd):
    broken = []
    for promises, scope, error in run(page):
        for promise in promises:
            if pages.speaks_of(promise, VERSION, mode.name):
                capfd.readouterr()
                try:
                    keep(mode, promise, scope, error)
                    printed(capfd.readouterr().err, promise.prints)
                except Exception:
                    broken.append("%s:%d: %s" % (page, promise.line, traceback.format_exc()))
    assert not broken, "\n".join(broken)


def keep(mode, promise, scope, error):
    """Raises an AssertionError where a promise is broken."""
    if promise.error:
        if promise.function:
            with pytest.raises(Exception) as caught:
                call(mode, promise, scope)
            error = caught.value
        assert isinstance(error, eval(promise.error, {"tf": tf})) and promise.words in str(error), repr(error)
    else:
        call(mode, promise, scope)


def call(mode, promise, scope):
    f, scope = scope[promise.function], dict(scope, sources=sources)
    value, gradients = eval(promise.value or "None", scope), eval("[%s]" % (promise.gradients or ""), scope)
    if promise.arguments:
        gradients = [gradient if gradient is None else np.array(gradient) for gradient in gradients]
        check(mode, f, eval("sources(%s)" % promise.arguments, scope), gradients, value=value)
    else:
        got = f()
        assert got == value if isinstance(value, str) else np.allclose(got, value, 1e-6), got


def sources(*values, **variables):
    """The arguments of a promise, as the harness wants them."""
    return list(values) + [variable(value, name=name) for name, value in sorted(variables.items())]


def printed(err, expected):
    if expected == "nothing":
        assert err == ""
    elif expected:
        assert err.count(expected) == 1, err


# ------------------------------------------------------------------------------------------------------------ the pages
@pytest.mark.once
def test_each_promise_is_about_a_release_that_is_tested():
    tested = set(pages.release(cell.minor) for cell in matrix.cells())
    for page in WITH_EXAMPLES:
        for block in pages.examples(page):
            for promise in pages.promises(block):
                assert any(pages.speaks_of(promise, version) for version in tested), (page, promise)
                assert promise.arguments or not promise.function or set(promise.modes or ["all"]) <= set(["graph", "eager"]), (page, promise)


@pytest.mark.once
@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_what_is_wrong_is_right_elsewhere(page):
    promises = [promise for block in pages.examples(page) for promise in pages.promises(block)]
    right = dict(((p.function, p.arguments), (p.value, p.gradients)) for p in promises if not p.wrong and not p.error)
    for promise in promises:
        if promise.wrong:
            assert right[promise.function, promise.arguments] != (promise.value, promise.gradients), promise


@pytest.mark.once
def test_the_pages_have_examples():
    assert set(WITH_EXAMPLES) >= set(["README.md", "docs/migrating.md"])
    assert [page for page in WITH_EXAMPLES if not any(pages.promises(block) for block in pages.examples(page))] == []


@pytest.mark.once
def test_each_pattern_has_a_section():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "test_10_patterns.py")) as file:
        patterns = re.findall(r'^@pattern\("(.+)"\)', file.read(), re.M)
    assert len(patterns) == 12
    sections = [title.lower() for title in re.findall(r"^## (.+)", pages.read("docs/migrating.md"), re.M)]
    assert [pattern for pattern in patterns if pattern.lower() not in sections] == []


@pytest.mark.once
@pytest.mark.parametrize("page", pages.names())
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)", pages.read(page)):
        if "://" not in link:
            assert os.path.exists(os.path.join(pages.ROOT, os.path.dirname(page), link)), link


@pytest.mark.once
def test_the_readme_leads_to_every_page():
    links = re.findall(r"\]\(([^)#]+)", pages.read("README.md"))
    assert [page for page in pages.names()[1:] if page not in links] == []
