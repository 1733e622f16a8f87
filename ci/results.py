"""What came of each row of a run, and its JSON: `ci/test --json` writes it, `ci/report.py` reads it."""
import json
from typing import NamedTuple, Optional

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"


class Result(NamedTuple):
    """What came of one row: a cell, or the tools' own tests."""

    name: str
    status: str
    seconds: float = 0.0  # of the tests
    install_seconds: float = 0.0
    note: str = ""
    log: str = ""
    setups: dict = {}
    clauses: dict = {}  # {"8.1": whether all of its tests passed that ran}
    thorough: bool = False
    pytest: Optional[str] = None  # further arguments, so that perhaps not all tests were run; None where that was not noted
    commit: str = ""
    date: str = ""


def read(paths):
    """`{name: Result}` of the JSON of several runs. The last one counts, but where it has not run a row that another has."""
    found = {}
    for path in paths:
        with open(path) as stream:
            for result in [Result(**row) for row in json.load(stream)]:
                if result.status != NOT_RUN or result.name not in found:
                    found[result.name] = result
    return found


def to_keep(result):
    """The same without what is of interest on the machine of the run only, or long."""
    setups = {name: {key: n for key, n in counts.items() if key != "patterns"} for name, counts in result.setups.items()}
    return result._replace(log="", note="" if result.status == PASSED else result.note, setups=setups)


def write(path, results):
    with open(path, "w") as stream:  # a line for each row
        stream.write("[%s]\n" % ",\n".join(json.dumps(result._asdict()) for result in results))
