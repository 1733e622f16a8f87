"""Draws docs/pictures/ from what the examples wrote with --json: the oldest release among the files dashed, the newest solid.

    python3 examples/draw.py FILE.json ... [--output docs/pictures]

It needs Python 3 and matplotlib.
"""
import argparse
import os

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import table

PICTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "pictures")
GREEN, RED, GREY = "#0b6e4f", "#c8553d", "#8a8a8a"


def two_releases(results):
    """`(numbers, style, TensorFlow x.y)` of the oldest and of the newest release."""
    for numbers, style in ((results[0], "--"), (results[-1], "-")):
        yield numbers, style, "TensorFlow %s" % table.minor(numbers)


def tiles(axes, rows, colors, low, high, gap=1):
    """Rows of images of 8 x 8 pixels, as one picture; all rows have the same number."""
    height, width = len(rows) * (8 + gap) - gap, len(rows[0]) * (8 + gap) - gap
    whole = np.full((height, width), np.nan)
    for i, row in enumerate(rows):
        for j, image in enumerate(row):
            whole[i * (8 + gap):i * (8 + gap) + 8, j * (8 + gap):j * (8 + gap) + 8] = np.reshape(image, (8, 8))
    axes.imshow(whole, cmap=colors, vmin=low, vmax=high, interpolation="nearest")
    axes.set_axis_off()


def strongest(maps):
    """Maps scaled for each to reach 1 or -1."""
    return [np.array(one) / np.max(np.abs(one)) for one in maps]


def guided_backprop(results):
    kinds = [("the digit", [results[-1]["images"]], "gray_r", 0., 1.)]
    for name, text in (("plain", "gradient"), ("guided", "guided")):
        kinds += [("%s, %s" % (text, release), [strongest(numbers[name]["maps"])], "RdBu_r", -1., 1.)
                  for numbers, _, release in two_releases(results)]
    figure, all_axes = plt.subplots(len(kinds), 1, figsize=(7.6, 3.6))
    for axes, (text, rows, colors, low, high) in zip(all_axes, kinds):
        tiles(axes, rows, colors, low, high)
        axes.text(-2., 4., text, ha="right", va="center", fontsize=9)
    figure.subplots_adjust(left=0.26, right=0.99, top=0.99, bottom=0.01, hspace=0.06)
    return figure


def domain_adaptation(results):
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(9.6, 3.1), gridspec_kw={"width_ratios": [1.1, 2., 2.]})
    samples = results[-1]["samples"]
    half = len(samples["source"]) // 2
    tiles(left, [samples["source"][:half], samples["source"][half:], samples["target"][:half], samples["target"][half:]],
          "gray_r", -0.8, 1.)
    left.set_title("source; target", fontsize=10, loc="left")
    for axes, what, title in ((middle, "target", "accuracy on the target"), (right, "domains", "domains told apart")):
        for numbers, style, release in two_releases(results):
            for name, color in (("with reversal", GREEN), ("without reversal", RED)):
                curves = 100. * np.array(numbers[name][what])
                steps = np.linspace(0., numbers["steps"], curves.shape[1] + 1)[1:]
                axes.plot(steps, curves.mean(0), style, color=color, label="%s, %s" % (name, release))
                if style == "-":
                    axes.fill_between(steps, curves.min(0), curves.max(0), color=color, alpha=0.15, linewidth=0.)
        axes.set_title(title + ", %", fontsize=10, loc="left")
        axes.set_xlabel("steps")
        axes.set_ylim(0., 102.)
    right.legend(fontsize=8, frameon=False, loc="lower left")
    figure.tight_layout()
    return figure


def binarised_network(results):
    figure, (left, right) = plt.subplots(1, 2, figsize=(9., 3.2), gridspec_kw={"width_ratios": [2., 1.3]})
    for numbers, style, release in two_releases(results):
        for name, color in (("not binarised", GREY), ("straight-through", GREEN), ("true gradient", RED)):
            curves = 100. * np.array(numbers["accuracies"][name])
            left.plot(range(curves.shape[1]), curves.mean(0), style, color=color, label="%s, %s" % (name, release))
    left.set_title("accuracy on held-out digits, %", fontsize=10, loc="left")
    left.set_xlabel("epochs")
    left.set_ylim(0., 102.)
    left.xaxis.get_major_locator().set_params(integer=True)
    left.legend(fontsize=8, frameon=False, loc="center right")
    shown = results[-1]["weights"]
    across = 6
    tiles(right, [shown[i:i + across] for i in range(0, len(shown) - across + 1, across)],
          matplotlib.colormaps["gray"].with_extremes(bad="#9ab8ad"), -1., 1.)
    right.set_title("weights of %d hidden units: -1 or 1" % len(shown), fontsize=10, loc="left")
    figure.tight_layout()
    return figure


def recompute_memory(results):
    figure, axes = plt.subplots(figsize=(6., 3.4))
    for numbers, style, release in two_releases(results):
        for name, color in (("plain", RED), ("recompute", GREEN)):
            axes.plot(numbers["depths"], [one["megabytes"] for one in numbers[name]], style, color=color, marker="o",
                      markersize=3, label="%s, %s" % (name, release))
    axes.set_title("peak memory of a training step, MB", fontsize=10, loc="left")
    axes.set_xlabel("layers")
    axes.set_ylim(bottom=0.)
    axes.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    return figure


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--output", default=PICTURES)
    options = parser.parse_args(argv)
    plt.rcParams.update({"svg.fonttype": "none", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False,
                         "svg.hashsalt": "examples"})
    for example, results in table.read(options.files).items():
        figure = globals()[example](results)
        figure.savefig(os.path.join(options.output, example + ".svg"), metadata={"Date": None}, facecolor="white")
        plt.close(figure)


if __name__ == "__main__":
    main()
