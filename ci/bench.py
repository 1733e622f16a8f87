# -*- coding: utf-8 -*-
"""What a decorated function costs, beside tf.custom_gradient, a plain tf.identity and what people write by hand.

    python ci/bench.py [--json FILE] [--repeats 15] [--only eager build ...] [--sizes 100 1000 10000]

Run it with the Python of an environment that has TensorFlow and this package, on Linux. All ways are measured in one run, in
turns; a figure is the median of the repeats, in CPU time, which other processes disturb less (wall time is in the JSON); steps
are run on one thread. What would take longer than `--limit` seconds at once, going by the next smaller size, is left out,
and the table shows what was predicted: some ways are quadratic.
"""
from __future__ import absolute_import, division, print_function

import argparse
import json
import os
import subprocess
import sys
import time

import bench_table
from bench_worker import Worker

WAYS = ["ours", "native", "identity", "override", "per call", "Defun", "py_func"]
VARIANTS = [("plain", "build a call"), ("capturing", "build, last result captured"),
            ("variables", "build, 1,000 variables around"), ("inputs", "build, 100 inputs")]
READY = ["clip by value", "clip by norm", "clip by global norm", "scale", "reverse"]
IMPORT = ("import sys, time\nstart = time.time()\nimport tfgradcompat\nseconds = time.time() - start\n"
          "assert 'tensorflow' not in sys.modules\nprint(seconds)")
# Sections and the processes that measure them. In "one" all ways share a process, which is one layout of memory: they leave
# nothing behind. In "own" each way has its process, since some leave their graphs behind. "fresh" ones have not been used.
PROCESSES = {"decorate": "one", "step": "one", "ready": "one", "eager": "one, eager", "build": "own", "differentiate": "own",
             "size": "own", "memory": "fresh"}


def lines(sizes):
    """What is measured: a list of `(section, title, program, options, unit, clock)`."""
    found = [("decorate", "decorate", "decorate", {}, "us", "cpu")]
    for title, options in (("4 KB", {"floats": 1024}), ("64 MB", {"floats": 2 ** 24}),
                           ("4 KB, with gradient", {"floats": 1024, "gradient": True}),
                           ("products of 128 x 128", {"floats": 128 * 128, "matrix": 128, "count": 20})):
        found.append(("step", "step of 20, %s" % title, "step", options, "us", "cpu"))
    for name in READY:
        found.append(("ready", "step of 20, %s, 4 KB" % name, "ready", {"name": name, "floats": 1024}, "us", "cpu"))
        found.append(("ready", "step of 20, %s, 4 MB" % name, "ready", {"name": name, "floats": 2 ** 20, "count": 3}, "us", "cpu"))
    found.append(("eager", "eager call, no tape", "eager", {"gradient": False}, "us", "cpu"))
    found.append(("eager", "eager call and gradient", "eager", {"gradient": True}, "us", "cpu"))
    for variant, title in VARIANTS:
        for count in sizes:
            found.append(("build", "%s, %s calls" % (title, format(count, ",")), "build",
                          {"variant": variant, "count": count}, "us", "cpu"))
    for count in sizes[:2]:
        found.append(("differentiate", "gradient of a call, %s calls" % format(count, ","), "differentiate", {"count": count},
                      "us", "cpu"))
    found.append(("size", "bytes in the graph", "size", {}, "", "bytes"))
    found.append(("size", "operations in the graph", "size", {}, "", "operations"))
    found.append(("memory", "memory of a call, graph alive", "memory", {}, "", "alive"))
    found.append(("memory", "memory of a call, graph gone", "memory", {}, "", "kept"))
    return found


class Bench(object):
    """The processes that measure a few sections, and what they have found."""

    def __init__(self, processes, options):
        self.processes, self.options = processes, options
        if processes.startswith("one"):
            self._workers = dict.fromkeys(options.ways, Worker("eager" in processes))
        else:
            self._workers = dict((way, Worker(False)) for way in options.ways)
        self._calls = {}  # {(variant, way): [(calls, seconds per call), ...]}, going up
        self._last = None, None

    def close(self):
        for worker in set(self._workers.values()):
            worker.close()

    def measure(self, program, options, clock):
        """`{way: {clock: median, ...}}` of one line; some lines show two sides of one measurement."""
        if self._last[0] != (program, options):
            self._last = (program, options), self._measure(program, options, clock)
        return self._last[1]

    def _measure(self, program, options, clock):
        samples, found, start = {}, {}, time.time()
        for way in self._workers:
            predicted = self._predicted(way, options)
            if predicted > self.options.limit:
                found[way] = {"capped": predicted}
            else:
                samples[way] = []
        for number in range(self.options.repeats if clock == "cpu" else 1):
            if number and time.time() - start > self.options.seconds * number / (number + 1.):
                break  # another round would take longer than is allowed
            for way in sorted(samples, key=WAYS.index, reverse=number % 2 == 1):
                sample = self._workers[way].ask(program, way, options)
                if clock in sample:
                    samples[way].append(sample)
                else:
                    found[way] = sample
                    del samples[way]
        for way, taken in samples.items():
            found[way] = dict((key, bench_table.median([sample[key] for sample in taken])) for key in taken[0])
            found[way]["repeats"] = len(taken)
            self._calls.setdefault((options.get("variant"), way), []).append((options.get("count", 1), found[way][clock]))
        return found

    def _predicted(self, way, options):
        """The seconds that the line will take at once in this way, if it goes on as it did at smaller sizes."""
        known = self._calls.get((options.get("variant"), way), [])
        if "variant" not in options or not known:
            return 0.
        growth = 1. if len(known) == 1 else max(1., known[-1][1] / known[-2][1])
        return options["count"] * known[-1][1] * growth


def import_seconds(repeats):
    """The median time that importing the package takes in a new process, compiled already."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return bench_table.median([
        float(subprocess.check_output([sys.executable, "-c", IMPORT], env=env)) for _ in range(repeats + 1)][1:])


def run(options):
    probe = Worker(False)
    found = probe.about()
    probe.close()
    if "failed" in found:
        sys.exit("No TensorFlow, or no tfgradcompat: %s" % found["failed"])
    version = tuple(int(part) for part in found["tensorflow"].split(".")[:2])
    found.update(limit=options.limit, lines=[])
    print("TensorFlow %(tensorflow)s, Python %(python)s, route %(route)s" % found)
    bench, todo = None, lines(options.sizes)
    if not options.only or "import" in options.only:
        found["import"] = import_seconds(options.repeats)
        print("import tfgradcompat, without TensorFlow: %.1f ms" % (1e3 * found["import"]))
    print(bench_table.heading(options.ways))
    for section, title, program, arguments, unit, clock in todo:
        if options.only and section not in options.only or section == "eager" and version < (1, 5):
            continue
        if bench is None or bench.processes != PROCESSES[section]:
            if bench is not None:
                bench.close()
            bench = Bench(PROCESSES[section], options)
        line = {"section": section, "title": title, "unit": unit, "clock": clock, "options": arguments,
                "ways": bench.measure(program, arguments, clock)}
        found["lines"].append(line)
        print(bench_table.text(line, options.ways))
        sys.stdout.flush()
    bench.close()
    for note in bench_table.notes(found):
        print(note)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--limit", type=float, default=60., help="seconds that one measurement may take, as predicted")
    parser.add_argument("--seconds", type=float, default=60., help="seconds for the repeats of one line; each runs once at least")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000], help="calls in a graph, going up")
    parser.add_argument("--only", nargs="+", metavar="SECTION", help="import, decorate, eager, build, differentiate, step, ...")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    found = run(options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
