"""A progress bar on stderr: tqdm's when it is installed, a plain one otherwise; nothing when stderr is no terminal."""
from __future__ import absolute_import, division, print_function

import sys

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None

WIDTH = 30


class Bar(object):
    """Shows how many of `total` steps are done; it is wiped away before other lines are printed, and at the end."""

    def __init__(self, total, label):
        self.total = total
        self.label = label
        self.done = 0
        self.shown = sys.stderr.isatty()
        self.tqdm = tqdm(total=total, desc=label, leave=False) if tqdm and self.shown else None

    def advance(self):
        self.done += 1
        if self.tqdm:
            self.tqdm.update(1)
        elif self.shown:
            filled = WIDTH * self.done // self.total
            self._write("\r%s [%s%s] %d/%d" % (self.label, "#" * filled, " " * (WIDTH - filled), self.done, self.total))

    def wipe(self):
        if self.tqdm:
            self.tqdm.close() if self.done == self.total else self.tqdm.clear()
        elif self.shown:
            self._write("\r%s\r" % (" " * (len(self.label) + WIDTH + 20)))

    @staticmethod
    def _write(text):
        sys.stderr.write(text)
        sys.stderr.flush()
