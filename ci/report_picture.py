"""The picture that report.py makes of its table, for the README: a row for each TensorFlow, a column for each Python."""
import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

from ci.report_table import MISSING
from ci.results import FAILED, NOT_RUN, PASSED

# In points. GitHub shows a README 838 pixels wide, which are 628 points.
WIDTH, LEFT, COLUMN, ROW, TOP, BOTTOM, FONT = 604, 52, 61, 12, 16, 48, 7.5
GREY = "#797979"  # as well to be read on GitHub's white as on its dark grey
FILLED = {PASSED: "#0b6e4f", FAILED: "#b3402a"}  # with white text
MARK = {FAILED: "✗ "}  # for those who see no difference in the colours


def text_of(entry):
    """How many clauses hold, and the seconds."""
    if not entry.ran:
        return {NOT_RUN: "not run", MISSING: "–"}[entry.status]
    words = ([str(len(entry.holding))] if entry.known else []) + ["%.0f s" % entry.result.seconds]
    return MARK.get(entry.status, "") + " · ".join(words) + "*" * entry.in_part


def box(axes, x, y, status, text, gid=None):
    filled = FILLED.get(status)
    style = dict(facecolor=filled, edgecolor="none") if filled else dict(facecolor="none", edgecolor=GREY, linewidth=0.5, linestyle=":")
    axes.add_patch(Rectangle((x + 1, y + 1), COLUMN - 2, ROW - 2, gid=gid, **style))
    axes.text(x + COLUMN / 2, y + ROW / 2, text, color="white" if filled else GREY, ha="center", va="center_baseline")


def draw(table, path):
    height = TOP + ROW * len(table.releases) + BOTTOM
    plt.rcParams.update({"svg.fonttype": "none", "font.size": FONT, "svg.hashsalt": "compatibility"})
    figure = plt.figure(figsize=(WIDTH / 72, height / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.axis("off")
    for i, python in enumerate(table.pythons):
        axes.text(LEFT + (i + 0.5) * COLUMN, TOP / 2, "Python " + python, color=GREY, ha="center", va="center_baseline")
    for j, release in enumerate(table.releases):
        y = TOP + j * ROW
        axes.text(LEFT - 4, y + ROW / 2, "TF " + release, color=GREY, ha="right", va="center_baseline")
        for i, python in enumerate(table.pythons):
            entry = table.at(release, python)
            if entry:
                box(axes, LEFT + i * COLUMN, y, entry.status, text_of(entry), gid=entry.cell.name)
    legend(axes, table, height - BOTTOM + 6)
    figure.savefig(path, metadata={"Date": None}, transparent=True)
    plt.close(figure)


def legend(axes, table, y):
    x = LEFT
    for status, count in table.counts().items():
        box(axes, x, y, status, "%s%d %s" % (MARK.get(status, ""), count, status))
        x += COLUMN
    lines = ["clauses that hold, of the contract's %d · seconds of the tests" % len(table.contract)]
    if any(entry.in_part for entry in table.entries):
        lines[0] += " · * perhaps not all tests were run"
    days = sorted({date for date, _ in table.runs()} - {""})
    lines.append("no box: TensorFlow has no wheel" + (" · run on " + "–".join(dict.fromkeys([days[0], days[-1]])) if days else ""))
    for i, line in enumerate(lines):
        axes.text(LEFT, y + ROW * (1.5 + i), line, color=GREY, va="center_baseline")
