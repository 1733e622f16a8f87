# -*- coding: utf-8 -*-
"""The `mode` of a test: each test that asks for one runs once in every mode this process has.

The environment variable TEST_SETUP says what the process is: `graph`, `eager` or `override` (see harness.py).
"""
from __future__ import absolute_import, division, print_function

import fnmatch
import gc
import os
import re
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
if os.environ.get("TEST_SETUP") == "override":
    os.environ["TFGRADCOMPAT_ROUTE"] = "override"

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import harness


# What takes long and passed everywhere before: on all releases only where TEST_LENGTH is "thorough", as `ci/test --thorough` sets it,
# else on these, and there not where it is "short", as it is on the cells outside of the core; what needs no TensorFlow, on one
# for most Pythons.
LONG = ["test_10_*.py", "test_11_*.py", "test_4_vectorizing.py", "test_4_forward_mode.py", "test_6_distribute.py", "test_6_frameworks.py",
        "test_8_copies.py", "test_8_keras_models.py", "test_examples.py"]
ALWAYS = ["test_10_patterns.py"]
NAMED = [(0, 12), (1, 3), (1, 4), (1, 8), (1, 15), (2, 1), (2, 6), (2, 12), (2, 16), (2, 20), (2, 22)]
WITHOUT_TENSORFLOW = ["test_11_scan*.py", "test_11_vendor.py", "test_11_tox.py"]
ONE_EACH = [(1, 8), (1, 15), (2, 6), (2, 12), (2, 16), (2, 20)]

LENGTH = os.environ.get("TEST_LENGTH", "")


def is_left_out(item):
    """Whether a test is not run on this release, in a run that is not thorough."""
    name = os.path.basename(item.nodeid.split("::")[0])
    short = LENGTH == "short"
    globs = [] if harness.VERSION in NAMED and not short or name in ALWAYS else LONG
    globs = globs + ([] if harness.VERSION in ONE_EACH and not short else WITHOUT_TENSORFLOW)
    return any(fnmatch.fnmatch(name, glob) for glob in globs)


def pytest_configure(config):
    if hasattr(gc, "freeze"):  # Python 3.7: what TensorFlow has made is not looked through at each of the many collections
        gc.collect()
        gc.freeze()
    config.addinivalue_line("markers", "clause(number): the clause of docs/contract.md that the test checks")
    config.addinivalue_line("markers", "once: the set-up changes nothing, so run only in a cell's first (ci/cell.py says which it is)")
    config.addinivalue_line("markers", "one_route: the route changes nothing, so not run in the set-up `override`")
    config.addinivalue_line("markers", "pattern(name): a row of the table of patterns in docs/migrating.md, which ci/patterns.py makes")
    config.addinivalue_line("markers", "needs(attribute, ...): run only in the modes that have these attributes of a mode")
    # AutoGraph on Python 3.13: thousands of them cost seconds and bury the log.
    config.addinivalue_line("filterwarnings", "ignore:.*got an unexpected keyword argument:DeprecationWarning:gast")


def pytest_generate_tests(metafunc):
    needs = [name for mark in metafunc.definition.iter_markers("needs") for name in mark.args]
    section = "".join(re.findall(r"\btest_(\d+)_", metafunc.module.__name__))
    modes = [mode for mode in (mode.for_test(section, needs) for mode in harness.MODES) if mode]
    if "mode" in metafunc.fixturenames and "kind" in metafunc.fixturenames:
        pairs = [(mode, kind) for mode in modes for kind in mode.variable_kinds]
        metafunc.parametrize("mode,kind", pairs, ids=["%s-%s" % (mode.name, kind) for mode, kind in pairs])
    elif "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", modes, ids=[mode.name for mode in modes])


def pytest_collection_modifyitems(config, items):
    for item in items:
        # For ci/cell.py, which finds these in the JUnit file.
        item.user_properties += [("clause", mark.args[0]) for mark in item.iter_markers("clause")]
        for mark in item.iter_markers("pattern"):
            item.user_properties += [("pattern", mark.args[0]), ("mode", item.callspec.params["mode"].name)]
    marks = ["once"] * bool(os.environ.get("TEST_LATER_SETUP")) + ["one_route"] * (harness.SETUP == "override")
    left_out = set(item for item in items if any(next(item.iter_markers(mark), None) for mark in marks))
    if LENGTH != "thorough":
        left_out.update(item for item in items if is_left_out(item))
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = [item for item in items if item not in left_out]


def pytest_report_header(config):
    return "TensorFlow %s, set-up %s, modes %s" % (
        harness.tf.__version__, harness.SETUP, " ".join(mode.name for mode in harness.MODES))
