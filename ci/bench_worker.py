# -*- coding: utf-8 -*-
"""Processes that measure for bench.py: what one way leaves behind (graphs that are never freed) must not slow down another.

A worker reads requests from its input, one JSON object a line, and answers in the same way. `Worker` is the other end.
"""
from __future__ import absolute_import, division, print_function

import json
import os
import subprocess
import sys


def environment():
    return dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", PYTHONHASHSEED="0")


def enable_eager():
    """Turns eager mode on, where it is not and where there is one."""
    import tensorflow as tf
    for owner in (getattr(getattr(tf, "compat", None), "v1", None), tf, getattr(getattr(tf, "contrib", None), "eager", None)):
        if hasattr(owner, "enable_eager_execution"):
            owner.enable_eager_execution()
            break


class Worker(object):
    """A process that has TensorFlow and this package, with eager mode on or off."""

    def __init__(self, eager):
        command = [sys.executable, os.path.abspath(__file__), "eager" if eager else "graph"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), universal_newlines=True)

    def ask(self, program, way, options):
        """The answer of `bench_programs.run`, or {"failed": why}."""
        return self._answer({"program": program, "way": way, "options": options})

    def about(self):
        """The TensorFlow that is measured."""
        return self._answer({})

    def _answer(self, request):
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except IOError:  # it is gone
            line = ""
        return json.loads(line) if line else {"failed": "the process ended with status %s" % self._process.wait()}

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def answer(request):
    import bench_programs
    import tfgradcompat
    if not request:
        return {"tensorflow": bench_programs.tf.__version__, "python": sys.version.split()[0], "route": tfgradcompat.route()}
    try:
        return bench_programs.run(request["program"], request["way"], request["options"])
    except Exception as error:  # a way that fails on this release is a cell of the table; the others go on
        return {"failed": "%s: %s" % (type(error).__name__, str(error)[:200])}


def main():
    # What TensorFlow prints must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if sys.argv[1] == "eager":
        enable_eager()
    for line in iter(sys.stdin.readline, ""):
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
