# -*- coding: utf-8 -*-
"""The digits model trained by one process and by several, side by side: losses, accuracy and steps per second.

    PYTHONPATH=. ENV/bin/python ci/distributed.py [--steps 300] [--json FILE]

Run it with the Python of an environment that has TensorFlow. Ends with status 1 where the losses of a synchronous kind are
not those of one process (1e-5), or the accuracy of the asynchronous one is not its accuracy (1 %).
"""
from __future__ import absolute_import, division, print_function

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests"))

import digits_cluster


def kinds():
    """Those of the TensorFlow that is installed, and its version."""
    code = "import tensorflow as tf; print(tf.__version__)"
    version = subprocess.check_output([sys.executable, "-c", code]).decode().split()[-1]
    if version.startswith(("0.", "1.")):
        return version, ["servers", "asynchronous"]
    return version, ["mirrored", "multiworker", "coordinator"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    version, names = kinds()
    single = digits_cluster.train("single", options.steps)
    found, bad = {"tensorflow": version, "single": single}, []
    print("TensorFlow %s, %d steps: one process %.0f steps/s, accuracy %.3f" % (
        version, options.steps, options.steps / single["seconds"], single["accuracy"]))
    for name in names:
        folder = tempfile.mkdtemp() if name == "servers" else None
        result = found[name] = digits_cluster.train(name, options.steps, folder=folder, kill=name == "servers")
        first = result.get("steps", [0])[0]
        difference = max(abs(a - b) for a, b in zip(result["losses"], single["losses"][first:]))
        print("%-13s %5.0f steps/s, accuracy %.3f, largest difference of a loss %.1e%s" % (
            name, len(result["losses"]) / result["seconds"], result["accuracy"], difference,
            ", killed and gone on from step %d" % first if first else ""))
        off = abs(result["accuracy"] - single["accuracy"]) > 0.01 if name == "asynchronous" else not difference <= 1e-5
        bad += [name] * off
    if options.json:
        with open(options.json, "w") as stream:
            json.dump(found, stream, indent=1, sort_keys=True)
    print("not as one process: %s" % ", ".join(bad) if bad else "all as one process")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
