#!/usr/bin/env python
"""Runs the tests inside one cell, once in every setup that its TensorFlow has.

    python ci/cell.py [--json FILE] [--setup NAME ...] [--tests FOLDER] [PYTEST ARGUMENT ...]

A setup is a process of its own: eager execution cannot be left again on old releases,
and the package chooses its route once per process. The tests see it as TEST_SETUP:

    graph      graphs and sessions, eager execution off   (TensorFlow 1.x and older)
    eager      eager execution on                         (1.5 and newer)
    override   as graph on 1.x and as eager on 2.x, through the package's other
               route, forced by TFGRADCOMPAT_ROUTE        (1.7 and newer)

Each setup has three processes, which share the tests by the section of the contract in their
names: what a process compiles, TensorFlow keeps, and on 1.9 to 1.12 each new function takes
a copy of all those before it; one process would need 9 GB there.

This file runs on every Python of the matrix, 2.7 included, with the cell's own pytest.
What is tested is the installed package: the checkout is not on sys.path.
"""
from __future__ import print_function

import argparse
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETUPS = ("graph", "eager", "override")

# Not "python -m pytest", which puts the current folder on sys.path. With -c that is done
# too, but the current folder is then an empty one.
PYTEST = "import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))"
NO_TESTS = 5  # pytest's exit status where it found none to run


def tensorflow_version():
    """As text. A process of its own: this one must stay free of TensorFlow."""
    code = "import tensorflow as tf; getattr(tf, 'keras', None); print(tf.__version__)"
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    # Where this is set, each import of a new installation would compile TensorFlow, for seconds.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.check_output([sys.executable, "-c", code], env=env).decode().split()[-1]


def setups_of(version):
    """The setups of a TensorFlow version, "1.10.1" being newer than "1.9.0"."""
    minor = tuple(int(part) for part in version.split(".")[:2])
    if minor >= (2, 0):
        return ["eager", "override"]
    if minor >= (1, 7):  # the first with tf.custom_gradient, so with a second route
        return ["graph", "eager", "override"]
    if minor >= (1, 5):  # the first whose eager execution has all that is tested
        return ["graph", "eager"]
    return ["graph"]


def environment(setup, first=True):
    """The environment variables of a setup's process. What is marked `once` is run in the first only."""
    env = dict(os.environ, TEST_SETUP=setup, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
    env.pop("PYTHONPATH", None)  # it could lead to the checkout
    env.pop("TFGRADCOMPAT_ROUTE", None)
    env.pop("TEST_LATER_SETUP", None)
    if not first:
        env["TEST_LATER_SETUP"] = "1"
    if setup == "override":
        env["TFGRADCOMPAT_ROUTE"] = "override"
    return env


def parts(tests):
    """The files in the folder `tests` as lists, those of a list sharing a process."""
    shared = [[], [], []]  # sections 1 to 4, 10, and the others; of 10 little is run where only short tests are
    own = os.environ.get("TEST_LENGTH") != "short"
    for file in sorted(glob.glob(os.path.join(tests, "test_*.py"))):
        section = re.match(r"test_(\d+)_", os.path.basename(file))
        number = int(section.group(1)) if section else 0
        shared[0 if 1 <= number <= 4 else 1 if number == 10 and own else 2].append(file)
    return [files for files in shared if files] or [[tests]]


def run(setup, tests, arguments, first=True):
    """The counts of a setup, of all its processes together."""
    found = [run_pytest(setup, part, arguments, first) for part in parts(tests)]
    counts = found[0]
    for other in found[1:]:
        counts["patterns"].update(other.pop("patterns"))
        add_clauses(counts["clauses"], other.pop("clauses"))
        statuses = [counts.pop("status"), other.pop("status")]
        counts = dict(counts, **dict((key, counts[key] + n) for key, n in other.items()))
        # Where a part has none of the tests that were asked for, the other tells.
        counts["status"] = next((status for status in statuses if status not in (0, NO_TESTS)), 0)
    return counts


def run_pytest(setup, files, arguments, first):
    """Runs pytest once and returns its counts."""
    print("==== setup %s" % setup)
    sys.stdout.flush()
    folder = tempfile.mkdtemp()
    started = time.time()
    try:
        junit = os.path.join(folder, "junit.xml")
        command = [sys.executable, "-u", "-c", PYTEST] + files + ["--rootdir", REPOSITORY]
        # -u and -v: where a test never ends, the log's last line names it.
        command += ["-v", "-rfE", "-p", "no:cacheprovider", "--basetemp", os.path.join(folder, "tmp")]
        command += ["--junitxml", junit] + arguments
        here = os.path.join(folder, "empty")
        os.mkdir(here)
        status = subprocess.call(command, env=environment(setup, first), cwd=here)
        counts = read_junit(junit)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    counts["status"] = status
    counts["seconds"] = round(time.time() - started, 1)
    return counts


def read_junit(path):
    """Counts from pytest's XML file; all zero when it was not written."""
    counts = dict.fromkeys(["passed", "failed", "skipped", "errors"], 0)
    counts["patterns"] = {}  # {pattern: {mode: whether it passed}}: see ci/patterns.py
    counts["clauses"] = {}  # {clause: whether all of its tests passed that ran}: see ci/report.py
    if os.path.exists(path):
        # Before pytest 5.1 the root is itself the suite; iter() finds it there too.
        for suite in xml.etree.ElementTree.parse(path).getroot().iter("testsuite"):
            counts["failed"] += int(suite.get("failures"))
            counts["errors"] += int(suite.get("errors"))
            counts["skipped"] += int(suite.get("skipped", 0))
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            kinds = set(child.tag for child in case)
            passed = not kinds & {"failure", "error", "skipped"}
            counts["passed"] += passed
            named = [(p.get("name"), p.get("value")) for p in case.iter("property")]
            ran = passed or kinds & {"failure", "error"}
            for number in [value for name, value in named if ran and name == "clause"]:
                add_clauses(counts["clauses"], {number: passed})
            properties = dict(named)
            if "pattern" in properties:
                modes = counts["patterns"].setdefault(properties["pattern"], {})
                modes[properties["mode"]] = passed and modes.get(properties["mode"], True)
    return counts


def add_clauses(counted, others):
    """Adds those of other tests: a clause holds where nothing of it failed."""
    for number, holds in others.items():
        counted[number] = holds and counted.get(number, True)


def is_good(counts):
    """Also red: a setup in which nothing ran, for it shows nothing."""
    return counts["status"] == 0 and counts["passed"] > 0


def main(argv=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", help="write the counts of each setup to this file")
    parser.add_argument("--setup", action="append", choices=SETUPS, help="only this setup")
    parser.add_argument("--tests", default=os.path.join(REPOSITORY, "tests"))
    options, arguments = parser.parse_known_args(argv)
    summary = {"python": platform.python_version(), "setups": {}, "clauses": {}}
    setups = options.setup
    if not setups:
        summary["tensorflow"] = tensorflow_version()
        setups = setups_of(summary["tensorflow"])
        print("TensorFlow %s, Python %s" % (summary["tensorflow"], summary["python"]))
    for setup in setups:
        first = setup == setups[0]
        counts = run(setup, os.path.abspath(options.tests), arguments, first)
        add_clauses(summary["clauses"], counts.pop("clauses"))
        summary["setups"][setup] = counts
    for setup in setups:
        counts = summary["setups"][setup]
        text = "{passed} passed, {failed} failed, {errors} errors, {skipped} skipped, {seconds} s"
        verdict = "good" if is_good(counts) else "BAD"
        counts["seconds"] = round(counts["seconds"], 1)
        print("%-4s %-9s %s" % (verdict, setup, text.format(**counts)))
    if options.json:
        with open(options.json, "w") as stream:
            json.dump(summary, stream, indent=1, sort_keys=True)
    return 0 if all(is_good(counts) for counts in summary["setups"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
