#!/usr/bin/env python3
"""Draws docs/bench.svg from several JSON files of bench.py: what a call costs, ours against the other ways, by release.

    ci/bench_picture.py FILE.json ... [--output docs/bench.svg]

It runs in the environment of the tools, which has matplotlib.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(HERE)  # the programs of the benchmark run on Python 2 too: they find each other beside them
if __package__ in (None, ""):  # run as a program
    sys.path.insert(0, os.path.dirname(HERE))
    from ci import bootstrap

    bootstrap.ensure()

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import bench_table

COLORS = {"ours": "#0b6e4f", "native": "#c8553d", "identity": "#b8b8b8", "override": "#6c8ebf", "per call": "#9673a6",
          "Defun": "#d6b656", "py_func": "#82b366"}
NAMES = {"ours": "custom_grad", "native": "tf.custom_gradient", "identity": "no gradient of its own", "override": "override of Identity",
         "per call": "registered for each call"}


def value(found, title, way):
    """Microseconds, or None."""
    for line in found["lines"]:
        if line["title"] == title and line["clock"] in line["ways"].get(way, {}):
            return line["ways"][way][line["clock"]] * 1e6
    return None


def bars(axes, results, title, ways, heading):
    """A group of bars for each release."""
    width = 0.8 / len(ways)
    for number, way in enumerate(ways):
        heights = [value(found, title, way) or 0. for found in results]
        places = [i + (number - (len(ways) - 1) / 2.) * width for i in range(len(results))]
        axes.bar(places, heights, width, color=COLORS[way], label=NAMES.get(way, way))
    axes.set_xticks(range(len(results)))
    axes.set_xticklabels([".".join(found["tensorflow"].split(".")[:2]) for found in results])
    axes.set_title(heading, fontsize=10, loc="left")
    axes.set_ylabel("µs", fontsize=9)


def sizes(axes, found, way, style):
    """What a call costs by the number of calls in the graph, where each takes the result of the one before from outside."""
    points = [(line["options"]["count"], line["ways"].get(way, {}).get("cpu")) for line in found["lines"]
              if line["options"].get("variant") == "capturing"]
    points = [(count, seconds * 1e6) for count, seconds in points if seconds]
    axes.plot([p[0] for p in points], [p[1] for p in points], style, color=COLORS[way], marker="o", markersize=3,
              label="%s, %s" % (NAMES[way], ".".join(found["tensorflow"].split(".")[:2])))


def draw(results, output):
    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "svg.hashsalt": "bench"})
    figure, ((eager, backward), (build, captured)) = plt.subplots(2, 2, figsize=(10, 6.4))
    with_eager = [found for found in results if value(found, "eager call and gradient", "ours")]
    bars(eager, with_eager, "eager call, no tape", ["ours", "native", "identity"], "eager call")
    bars(backward, with_eager, "eager call and gradient", ["ours", "native", "identity"], "eager call and gradient")
    smallest = next(line["title"] for line in results[0]["lines"] if line["section"] == "build")
    bars(build, results, smallest, ["ours", "native", "identity", "override", "per call"], "a call in a graph")
    old, new = [found for found in results if value(found, smallest, "native")][0], results[-1]
    for found, style in ((old, "--"), (new, "-")):
        for way in ("ours", "native"):
            sizes(captured, found, way, style)
    captured.set_xscale("log")
    captured.set_yscale("log")
    captured.set_xlabel("calls in the graph", fontsize=9)
    captured.set_ylabel("µs", fontsize=9)
    captured.set_title("a call in a graph that takes the last one's result from outside", fontsize=10, loc="left")
    captured.legend(fontsize=8, frameon=False)
    build.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(output, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--output", default=os.path.join(os.path.dirname(HERE), "docs", "bench.svg"))
    options = parser.parse_args()
    draw(bench_table.read(options.files), options.output)


if __name__ == "__main__":
    main()
