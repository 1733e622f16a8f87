"""The files of a copy of this package, their digests, and the note that says what a vendored copy was.

A digest does not change with the ends of lines, which version control may write its own way.
"""
from __future__ import absolute_import, division, print_function

import hashlib
import io
import os
import re

from .. import __version__

NOTE = "VENDORED.txt"

TEXT = u"""\
Version %s of tfgradcompat, copied by `python -m tfgradcompat vendor`. Do not edit these files: copying a newer
version over them refuses to overwrite what was changed. `python -m <the name of this copy> doctor` says what was.

digest %s

The SHA-256 of each file:

%s"""


def own_folder():
    """Where this very copy of the package is."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def digests(folder):
    """{path from `folder` on, with slashes: SHA-256} of all files but the note, hidden files and compiled ones."""
    found = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and not name.endswith((".pyc", ".pyo")):
                path = os.path.join(parent, name)
                found[os.path.relpath(path, folder).replace(os.sep, "/")] = _digest_of(path)
    found.pop(NOTE, None)
    return found


def _digest_of(path):
    with io.open(path, "rb") as stream:
        content = stream.read()
    if not path.endswith(".gz"):
        content = content.replace(b"\r\n", b"\n")
    return hashlib.sha256(content).hexdigest()


def lines(found):
    """What `digests` found, as sha256sum prints it."""
    return "".join("%s  %s\n" % (found[path], path) for path in sorted(found))


def digest(found):
    """One digest for all files that `digests` found."""
    return hashlib.sha256(lines(found).encode("utf-8")).hexdigest()


def write_note(folder):
    """Writes down what is in `folder` now."""
    found = digests(folder)
    with io.open(os.path.join(folder, NOTE), "w", encoding="utf-8") as stream:
        stream.write(TEXT % (__version__, digest(found), lines(found)))


def read_note(folder):
    """`(version, {path: digest})` as it was when the note was written; None where there is no note."""
    path = os.path.join(folder, NOTE)
    if not os.path.isfile(path):
        return None
    with io.open(path, encoding="utf-8") as stream:
        text = stream.read()
    found = re.findall(r"^([0-9a-f]{64})  (.+)$", text, re.M)
    version = re.match(r"Version (\S+)", text)
    return (version.group(1) if version else "unknown"), dict((path, value) for value, path in found)


def changes(folder, noted):
    """What is otherwise than noted: a list such as ["compat.py changed", "mine.py added", "calls.py missing"]."""
    found = digests(folder)
    return ["%s %s" % (path, "missing" if path not in found else "added" if path not in noted else "changed")
            for path in sorted(set(found) | set(noted)) if found.get(path) != noted.get(path)]
