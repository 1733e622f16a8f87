"""What the user sees of a run: progress, the failures as they come, the table at the end."""
import re
import sys

from tqdm import tqdm

from ci.results import FAILED, NOT_RUN, PASSED

# Of a failing cell's log is shown: names of failures for each setup, as many failures in full, divided among the failing
# setups, the last lines of a failure, and of a setup that fails without naming a test. With three setups at most 120 lines.
NAMES, FULL, LINES = 10, 3, 20
TAIL = 30  # of a log without any of this

SETUP = re.compile(r"==== setup (\w+)$")  # these two are written by cell.py
VERDICT = re.compile(r"(good|BAD ) +(\w+) +\d+ passed")
HEADING = re.compile(r"=+ (.+) =+$")  # the others by pytest
FAILURE = re.compile(r"_+ (?!_)(.+) _+$")
NAME = re.compile(r"(FAILED|ERROR) ")
CAPTURED = re.compile(r"-+ Captured .+ -+$")


class Progress:
    """A bar on a terminal, lines elsewhere."""

    def __init__(self, total):
        self._done, self._total = 0, total
        self._bar = tqdm(total=total, unit="cell") if sys.stdout.isatty() else None

    def add(self, result):
        self._done += 1
        line = "[%d/%d] %s" % (self._done, self._total, describe(result))
        if result.status == FAILED:
            line += "".join("\n    | " + text for text in excerpt(result.log))
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


def excerpt(path):
    """What a failing cell's log says of its failures, in every setup."""
    if not path:
        return []
    with open(path, encoding="utf-8", errors="replace") as stream:
        log = stream.read().splitlines()
    verdicts = [line for line in log if VERDICT.match(line)]
    good = [VERDICT.match(line).group(2) for line in verdicts if line.startswith("good")]
    parts = [part for part in by_setup(log) if part[0] not in good]
    failing = sum(bool(names(part)) for _, part in parts)
    shown = []
    for setup, part in parts:
        found = names(part)
        if not found and (not setup or has_passed(part)):
            continue  # the installation, or one of two processes
        shown.append("==== setup %s" % setup if setup else "====")
        if not found:
            shown += [line for line in part if line not in verdicts][-LINES:]
            continue
        shown += found[:NAMES] + ["... and %d more" % (len(found) - NAMES)] * (len(found) > NAMES)
        for failure in failures(part)[:max(1, FULL // failing)]:
            shown += failure[:1] + failure[1:][-LINES:]
    return shown + verdicts if shown else log[-TAIL:]


def by_setup(log):
    """`(setup, lines)` for each process of a log, after the lines before the first, whose setup is None."""
    parts = [(None, [])]
    for line in log:
        if SETUP.match(line):
            parts.append((SETUP.match(line).group(1), []))
        else:
            parts[-1][1].append(line)
    return parts


def has_passed(part):
    """Whether pytest came to its end and has something to say that is not a failure."""
    headings = [HEADING.match(line).group(1) for line in part if HEADING.match(line)]
    return bool(headings and re.search(r"\d+ passed", headings[-1]) and " failed" not in headings[-1])


def names(part):
    """The lines of pytest's short summary that name a failure."""
    return [line for line in section(part, "short test summary info") if NAME.match(line)]


def failures(part):
    """The failures in full, each a list of lines without what the test has printed."""
    found, printed = [], False
    for line in section(part, "ERRORS") + section(part, "FAILURES"):
        if FAILURE.match(line):
            found.append([])
            printed = False
        printed = printed or bool(CAPTURED.match(line))
        if found and not printed:
            found[-1].append(line)
    return found


def section(part, title):
    """The lines below one of pytest's headings."""
    found, inside = [], False
    for line in part:
        heading = HEADING.match(line)
        if heading:
            inside = heading.group(1) == title
        elif inside:
            found.append(line)
    return found


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
