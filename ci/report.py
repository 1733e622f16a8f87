"""What the user sees: progress, the failures as they come, the table at the end."""
import sys
from typing import NamedTuple

from tqdm import tqdm

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
TAIL = 30  # lines of a failing cell's log


class Result(NamedTuple):
    """What came of one row: a cell, or the tools' own tests."""

    name: str
    status: str
    seconds: float = 0.0  # of the tests
    install_seconds: float = 0.0
    note: str = ""
    log: str = ""
    setups: dict = {}


class Progress:
    """A bar on a terminal, lines elsewhere."""

    def __init__(self, total):
        self._done, self._total = 0, total
        self._bar = tqdm(total=total, unit="cell") if sys.stdout.isatty() else None

    def add(self, result):
        self._done += 1
        line = "[%d/%d] %s" % (self._done, self._total, describe(result))
        if result.status == FAILED:
            line += "".join("\n    | " + text for text in tail(result.log))
        if self._bar is None:
            print(line, flush=True)
        else:
            self._bar.write(line)
            self._bar.update()

    def close(self):
        if self._bar is not None:
            self._bar.close()


def describe(result):
    line = "%-13s %-7s" % (result.name, result.status)
    if result.status != NOT_RUN:
        line += " tests %5.1f s, install %5.1f s" % (result.seconds, result.install_seconds)
    for setup, counts in result.setups.items():
        line += ", %s %d" % (setup, counts["passed"])
        bad = counts["failed"] + counts["errors"]
        line += " (%d bad)" % bad if bad else ""
    if result.note:
        line += "  " + result.note
    if result.status == FAILED and result.log:
        line += "  log: " + result.log
    return line


def tail(path):
    """The last lines of a log."""
    if not path:
        return []
    with open(path, encoding="utf-8", errors="replace") as stream:
        return stream.read().splitlines()[-TAIL:]


def table(results):
    return "\n".join(["", "Results"] + [describe(result) for result in results])


def summary(results):
    """The last line of a run, to be read by programs too."""
    counts = [sum(r.status == status for r in results) for status in (PASSED, FAILED, NOT_RUN)]
    line = "%d passed, %d failed" % tuple(counts[:2])
    return line + (", %d skipped" % counts[2] if counts[2] else "")


def exit_status(results, strict):
    bad = {FAILED, NOT_RUN} if strict else {FAILED}
    ran = any(result.status != NOT_RUN for result in results)
    return 0 if ran and not any(result.status in bad for result in results) else 1
