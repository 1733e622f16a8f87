"""What report.py draws: the result of each cell, and what it says of the clauses of the contract."""
import collections

from ci import matrix
from ci.ranges import ranges
from ci.results import FAILED, NOT_RUN, PASSED

MISSING = "no result"  # a cell that is in none of the files
STATUSES = (PASSED, FAILED, NOT_RUN, MISSING)
NO_CRASH = (0, 1, 5)  # pytest's exit statuses where it came to its end: good, failures, no tests


class Entry:
    """A cell with its result, if there is one."""

    def __init__(self, cell, result, contract):
        self.cell, self.result = cell, result
        self.status = result.status if result else MISSING
        self.ran = self.status in (PASSED, FAILED)
        setups = result.setups if self.ran else {}
        clauses = result.clauses if self.ran else {}
        self.passed = sum(counts["passed"] for counts in setups.values())
        self.in_part = self.ran and result.pytest != ""  # perhaps
        self.crashed = [name for name, counts in setups.items() if counts["status"] not in NO_CRASH]
        # What a crash kept from running could have failed: then nothing is known to hold.
        self.known = bool(clauses) and not self.crashed
        self.failing = [number for number in contract if clauses.get(number) is False]
        self.holding = [number for number in contract if clauses.get(number) is True and self.known]
        self.untested = [number for number in contract if number not in clauses and self.known]


class Table:
    """All entries, by TensorFlow release and Python."""

    def __init__(self, cells, results, contract):
        matrix.select(cells, results)  # where a result is of no cell, an error that names it
        self.contract = contract  # {number: title}
        self.entries = [Entry(cell, results.get(cell.name), contract) for cell in cells]
        self.releases = list(dict.fromkeys(cell.tf_minor for cell in cells))
        self.pythons = sorted({cell.python for cell in cells}, key=matrix.numbers)
        self._places = {(entry.cell.tf_minor, entry.cell.python): entry for entry in self.entries}

    def at(self, release, python):
        """The entry there; None where TensorFlow has no wheel."""
        return self._places.get((release, python))

    def counts(self):
        """`{status: how many cells}`, of those that there are."""
        counts = collections.Counter(entry.status for entry in self.entries)
        return {status: counts[status] for status in STATUSES if counts[status]}

    def runs(self):
        """`[(date, commit)]` of the results, the first one first."""
        return sorted({(entry.result.date, entry.result.commit) for entry in self.entries if entry.ran})

    def clause_names(self, numbers):
        """The clauses as text, "1.1–4.3, 8.1"."""
        return ranges(numbers, list(self.contract))

    def of_clause(self, number):
        """On which releases a clause holds, fails and is not tested, each as text: on all Pythons that were run there."""
        failing = {entry.cell.tf_minor for entry in self.entries if number in entry.failing}
        holding = {entry.cell.tf_minor for entry in self.entries if number in entry.holding} - failing
        untested = {entry.cell.tf_minor for entry in self.entries if number in entry.untested} - failing - holding
        return [ranges(minors, self.releases) for minors in (holding, failing, untested)]
