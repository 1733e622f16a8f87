"""Finds the Pythons of the matrix: on PATH, in pyenv's folder and in uv's."""
import glob
import os
import subprocess
from typing import List, NamedTuple, Optional

# pyenv's shims answer for every version but run only the chosen ones, and Debian's
# Pythons come without venv: so each candidate is run and asked.
PROBE = (
    "import sys\n"
    "if sys.version_info >= (3, 7): import ensurepip, venv\n"
    "print(sys.executable)\n"
    "print('.'.join(str(part) for part in sys.version_info[:3]))"
)

# pyenv takes "3.9" for its newest 3.9; these two have no more releases to come.
PYENV_NAMES = {"2.7": "2.7.18", "3.6": "3.6.15"}


class Interpreter(NamedTuple):
    path: str
    version: str  # in full: "3.9.18"


def folders() -> List[str]:
    """Where to look, in order."""
    home = os.path.expanduser("~")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.join(home, ".pyenv")
    uv = os.environ.get("UV_PYTHON_INSTALL_DIR") or os.path.join(
        os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "uv", "python"
    )
    found = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder]
    found += sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin")))
    found += sorted(glob.glob(os.path.join(uv, "*", "bin")))
    return list(dict.fromkeys(found))


def find(python: str, where: Optional[List[str]] = None) -> Optional[Interpreter]:
    """A working Python of this minor version ("3.9"), or None."""
    for folder in folders() if where is None else where:
        candidate = os.path.join(folder, "python" + python)
        if not os.access(candidate, os.X_OK):
            continue
        interpreter = probe(candidate)
        if interpreter and interpreter.version.startswith(python + "."):
            return interpreter
    return None


def probe(path: str) -> Optional[Interpreter]:
    """What stands behind `path`, or None when it does not run or cannot make environments."""
    try:
        output = subprocess.run(
            [path, "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=True,
        ).stdout.decode()
    except (OSError, subprocess.SubprocessError):
        return None
    executable, version = output.split("\n")[:2]
    return Interpreter(executable, version)


def how_to_get(python: str) -> str:
    return "no Python %s found: pyenv install %s" % (python, PYENV_NAMES.get(python, python))
