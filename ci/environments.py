"""The cells' environments: made once, used again, deleted when the disk's share is full."""
import hashlib
import json
import os
import shutil
import sys

from ci import locks, pipsettings, processes
from ci.interpreters import Interpreter
from ci.matrix import Cell

MARKER = "complete.json"
INSTALL_TIMEOUT = 900
# Room made before a new environment is installed: the largest has 1.6 GB.
RESERVE = 1700 * 10**6


class InstallFailed(Exception):
    """An environment could not be made, also not at the second attempt."""


def digest(cell: Cell, interpreter: Interpreter) -> str:
    """Changes with all that decides what is in the environment."""
    text = json.dumps([interpreter.version, cell.requirements])
    return hashlib.sha256(text.encode()).hexdigest()


class Environment:
    """A folder with a Python that nobody else uses or deletes before `release`."""

    def __init__(self, folder, lock):
        self.folder = folder
        self.python = os.path.join(folder, "bin", "python")
        self._lock = lock

    def release(self):
        os.utime(os.path.join(self.folder, MARKER))  # last used: now
        self._lock.release()


class Store:
    """The folder of all environments, at most `keep` bytes with those not in use.

    An environment without its marker was not finished and is made again.
    """

    def __init__(self, folder, keep, build=None):
        self.folder = folder
        self.keep = keep
        self._build = build or build_environment

    def prepare(self, cell, interpreter, log) -> Environment:
        """The cell's environment, made if need be. Waits while another run uses it."""
        path = os.path.join(self.folder, cell.name)
        lock = self._lock(cell.name).acquire()
        try:
            wanted = digest(cell, interpreter)
            if (read_marker(path) or {}).get("digest") != wanted:
                delete(path)
                self.make_room(RESERVE)
                self._make(cell, interpreter, path, log)
                write_marker(path, wanted)
        except BaseException:
            lock.release()
            raise
        return Environment(path, lock)

    def _make(self, cell, interpreter, path, log):
        for attempt in ("first", "second"):
            try:
                return self._build(cell, interpreter, path, log)
            except (InstallFailed, processes.TimedOut) as error:  # a download that broke off
                log.write("%s attempt: %s\n" % (attempt, error))
                delete(path)
        raise InstallFailed("the environment could not be made")

    def make_room(self, needed):
        """Deletes the least recently used until `needed` more bytes fit, or all left are in use."""
        names = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        markers = {name: read_marker(os.path.join(self.folder, name)) for name in names}
        total = sum(marker["bytes"] for marker in markers.values() if marker)
        # Unfinished ones that nobody works on first: they are of no use to anyone.
        for name in sorted(names, key=lambda name: self._last_used(name)):
            marker = markers[name]
            if marker and total + needed <= self.keep:
                continue
            lock = self._lock(name)
            if lock.try_acquire():
                delete(os.path.join(self.folder, name))
                total -= marker["bytes"] if marker else 0
            lock.release()

    def _last_used(self, name) -> float:
        try:
            return os.path.getmtime(os.path.join(self.folder, name, MARKER))
        except OSError:
            return 0.0

    def _lock(self, name):
        return locks.Lock(os.path.join(self.folder + "-locks", name))


def build_environment(cell, interpreter, path, log):
    """Makes the environment and installs TensorFlow and what the tests need."""
    if cell.python in ("2.7", "3.6"):
        # Their own pip is too old for the wheels; virtualenv brings the last one that fits.
        make = [sys.executable, "-m", "virtualenv", "--quiet", "--python", interpreter.path, path]
    else:
        # virtualenv's pip in turn is too old for 3.12 and newer.
        make = [interpreter.path, "-m", "venv", path]
    check(make, log)
    python = os.path.join(path, "bin", "python")
    check([python, "-m", "pip", "install", "--quiet"] + cell.requirements, log)


def install_wheel(environment, wheel, log):
    """The project itself, anew each time: its version stays the same while it changes."""
    pip = [environment.python, "-m", "pip", "install", "--quiet"]
    check(pip + ["--no-deps", "--no-index", "--force-reinstall", wheel], log)


def check(command, log):
    env = dict(os.environ, **pipsettings.PIP)
    env.pop("PYTHONPATH", None)
    if processes.run(command, log, timeout=INSTALL_TIMEOUT, env=env):
        raise InstallFailed("failed: %s" % " ".join(command))


def read_marker(path):
    """What `write_marker` wrote, or None when the environment is not finished."""
    try:
        with open(os.path.join(path, MARKER)) as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return None


def write_marker(path, wanted):
    with open(os.path.join(path, MARKER), "w") as stream:
        json.dump({"digest": wanted, "bytes": size(path)}, stream)


def size(path) -> int:
    """Bytes on disk."""
    total = 0
    for folder, _, files in os.walk(path):
        for name in files:
            total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total


def delete(path):
    """The marker first: an environment half deleted must not look complete."""
    try:
        os.remove(os.path.join(path, MARKER))
    except OSError:
        pass
    shutil.rmtree(path, ignore_errors=True)
