"""`ci/test`: the project's tests on the cells of the matrix.

Without arguments on the core cells and, before them, the tests of ci/ itself (the row
"tools"); with --all on all cells; otherwise on those named (names as in ci/matrix.tsv, or
"tools"). Ends with a table and the line "N passed, N failed[, N skipped]", which counts rows.
"""
import argparse
import functools
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time

from ci import bootstrap, environments, interpreters, matrix, pipeline, processes, progress, results, wheels
from ci.results import FAILED, NOT_RUN, PASSED, Result

CELL = os.path.join(wheels.REPOSITORY, "ci", "cell.py")
TOOLS = "tools"
find_interpreter = functools.lru_cache(maxsize=None)(interpreters.find)


def parse(argv):
    parser = argparse.ArgumentParser(
        prog="ci/test", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cells", nargs="*", metavar="CELL")
    parser.add_argument("--all", action="store_true", help="all cells, not only the core ones")
    parser.add_argument("--strict", action="store_true", help="a cell that was not run is an error")
    parser.add_argument(
        "--thorough", action="store_true", help="long tests on every cell, not only on some of the core"
    )
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one cell's tests")
    parser.add_argument("--testers", type=int, default=2, help="cells tested at the same time")
    parser.add_argument("--keep-gb", type=float, default=8, help="disk for kept environments")
    parser.add_argument("--tests", help="another folder of tests")
    parser.add_argument("--pytest", default="", help="""more arguments, as in --pytest="-x -k 'a or b'" """)
    return parser.parse_args(argv)


class Run:
    """One call of ci/test: the wheel, the environments and the logs it uses."""

    def __init__(self, options, temporary):
        self.options = options
        self.temporary = temporary
        self.logs = os.path.join(bootstrap.cache(), "logs")
        os.makedirs(self.logs, exist_ok=True)
        self.store = environments.Store(
            os.path.join(bootstrap.cache(), "cells"), options.keep_gb * 10**9
        )
        self.wheel = None

    def build_wheel(self):
        folder = os.path.join(self.temporary, "wheel")
        os.mkdir(folder)
        with open(self.log("wheel"), "w") as log:
            self.wheel = wheels.build(folder, log)

    def log(self, name):
        return os.path.join(self.logs, name + ".log")

    def prepare(self, cell):
        """The first stage: an environment with the wheel in it."""
        started = time.monotonic()
        with open(self.log(cell.name), "w") as log:
            environment = self.store.prepare(cell, find_interpreter(cell.python), log)
            try:
                environments.install_wheel(environment, self.wheel, log)
            except BaseException:
                environment.release()
                raise
        return environment, time.monotonic() - started

    def test(self, cell, prepared):
        """The second stage: cell.py in that environment."""
        environment, install_seconds = prepared
        summary = os.path.join(self.temporary, cell.name + ".json")
        command = [environment.python, CELL, "--json", summary]
        if self.options.tests:
            command += ["--tests", os.path.abspath(self.options.tests)]
        started = time.monotonic()
        note, status = "", 1
        try:
            length = "thorough" if self.options.thorough else "" if cell.core else "short"
            status = self._run(cell.name, command + shlex.split(self.options.pytest), length=length)
        except processes.TimedOut as error:
            note = str(error)
        finally:
            environment.release()
        seconds = time.monotonic() - started
        found = {"setups": {}, "clauses": {}}
        if os.path.exists(summary):
            with open(summary) as stream:
                found = json.load(stream)
        good = status == 0 and found["setups"]
        return Result(
            cell.name,
            PASSED if good else FAILED,
            seconds,
            install_seconds,
            note,
            log=self.log(cell.name),
            setups=found["setups"],
            clauses=found["clauses"],
        )

    def test_tools(self):
        """The row of ci/'s own tests, in this very environment."""
        started = time.monotonic()
        tests = os.path.join(wheels.REPOSITORY, "ci", "tests")
        with open(self.log(TOOLS), "w"):
            pass
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
        try:
            # The first time they install three environments of their own, by tox.
            status = self._run(TOOLS, command, 3 * self.options.timeout)
        except processes.TimedOut:
            status = 1  # the log says so
        seconds = time.monotonic() - started
        return Result(TOOLS, FAILED if status else PASSED, seconds, log=self.log(TOOLS))

    def _run(self, name, command, timeout=None, length=""):
        """Runs to the end or the time limit, with a temporary folder that goes with it."""
        with tempfile.TemporaryDirectory(dir=self.temporary) as folder:
            env = dict(os.environ, TMPDIR=folder)
            env["TEST_LENGTH"] = length  # see tests/conftest.py
            with open(self.log(name), "a") as log:
                return processes.run(command, log, timeout=timeout or self.options.timeout, env=env)

    def failed(self, cell, error):
        note = "%s: %s" % (type(error).__name__, error)
        return Result(cell.name, FAILED, note=note, log=self.log(cell.name))


def rows(run, cells, tools):
    """Yields a result for each row as it comes."""
    if tools:
        yield run.test_tools()
    missing = [cell for cell in cells if find_interpreter(cell.python) is None]
    for cell in missing:
        yield Result(cell.name, NOT_RUN, note=interpreters.how_to_get(cell.python))
    there = [cell for cell in cells if cell not in missing]
    yield from pipeline.run(
        there, run.prepare, run.test, run.failed, testers=run.options.testers
    )


def main(argv=None):
    options = parse(argv)
    started = time.monotonic()
    names = [name for name in options.cells if name != TOOLS]
    tools = len(names) < len(options.cells) or not options.cells
    try:
        only_tools = options.cells and not names
        cells = [] if only_tools else matrix.select(matrix.read(), names, options.all)
    except matrix.UnknownCell as error:
        sys.exit("ci/test: %s" % error)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same as Ctrl-C
    done, interrupted = [], False
    commit = wheels.commit()
    temporary = tempfile.mkdtemp(prefix="tfgradcompat-ci-")
    shown = progress.Progress(len(cells) + tools)
    try:
        run = Run(options, temporary)
        if cells:
            run.build_wheel()
        for result in rows(run, cells, tools):
            done.append(result)
            shown.add(result)
    except KeyboardInterrupt:
        # What is running ends with this process: see guard.py.
        interrupted = True
    finally:
        shown.close()
        shutil.rmtree(temporary, ignore_errors=True)
    order = [TOOLS] * tools + [cell.name for cell in cells]
    there = [result.name for result in done]
    done += [Result(name, NOT_RUN, note="interrupted") for name in order if name not in there]
    done.sort(key=lambda result: order.index(result.name))
    same = dict(thorough=options.thorough, pytest=options.pytest, commit=commit, date=time.strftime("%Y-%m-%d"))
    done = [result._replace(**same) for result in done]
    if options.json:
        results.write(options.json, done)
    print(progress.table(done))
    print("\nWall time %.1f min" % ((time.monotonic() - started) / 60))
    print(progress.summary(done))
    return 130 if interrupted else progress.exit_status(done, options.strict)
