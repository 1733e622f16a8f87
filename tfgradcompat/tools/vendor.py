"""Copies this package into your project, under a name of your choice, with its licence and a note of its version.

  %(prog)s myproject/vendor/gradcopy

DEST is the folder of the copy; its name is the name under which it is imported. Run it again to update the copy: that
refuses to overwrite files that were changed, unless --force is given, and never touches files that are not the copy's.

The exit status is 0 when it was copied, 1 when something is in the way, and 2 when DEST cannot be right.
"""
from __future__ import absolute_import, division, print_function

import inspect
import io
import os
import re
import shutil
import sys

from . import copies
from .. import __version__, compat

IMPORT_SIX, IMPORT_OWN_SIX = b"\nimport six\n", b"\nfrom . import six\n"


def add_arguments(parser):
    parser.add_argument("dest", metavar="DEST", help="the folder of the copy, for example myproject/vendor/gradcopy")
    parser.add_argument("--six", action="store_true", help="copy six.py into it too (updates keep it)")
    parser.add_argument("--force", action="store_true", help="overwrite files that were changed")


def run(arguments):
    """Copies, says so, and returns the exit status."""
    dest = os.path.abspath(arguments.dest)
    wrong = cannot_be(dest)
    if wrong:
        sys.stderr.write("%s: %s\n" % (arguments.dest, wrong))
        return 2
    noted = copies.read_note(dest)
    in_the_way = obstacles(dest, noted)
    if in_the_way and not arguments.force:
        sys.stderr.write("%s: nothing was copied, since %s\n" % (arguments.dest, in_the_way))
        return 1
    old = noted[1] if noted else {}
    copy(copies.own_folder(), dest, old, arguments.six or "six.py" in old)
    print("Copied version %s to %s (digest %s)." % (
        __version__, arguments.dest, copies.digest(copies.digests(dest))[:16]))
    print("Import it as `from .%s import custom_grad` beside it; `python -m <its full name> doctor` checks it." %
          os.path.basename(dest))
    return 0


def cannot_be(dest):
    """What is wrong with a destination, or None."""
    name = os.path.basename(dest)
    if not re.match(r"[A-Za-z_][A-Za-z0-9_]*$", name):
        return "%r cannot be imported. DEST is the folder of the copy: name it as a Python module" % name
    if (os.path.realpath(dest) + os.sep).startswith(os.path.realpath(copies.own_folder()) + os.sep):
        return "that is this package itself"
    if os.path.exists(dest) and not os.path.isdir(dest):
        return "that is a file"
    return None


def obstacles(dest, noted):
    """Why `dest` must not be overwritten, or None."""
    if not os.path.isdir(dest) or not os.listdir(dest):
        return None
    if noted is None:
        return "there are files without a note (%s) that this program copied them. Choose a new folder, or overwrite " \
            "with --force" % copies.NOTE
    changes = copies.changes(dest, noted[1])
    if not changes:
        return None
    return "the files there are no longer those of version %s that were copied: %s. Take your changes elsewhere, or " \
        "overwrite with --force" % (noted[0], ", ".join(changes))


def copy(source, dest, old, with_six):
    """Makes `dest` a copy of `source`. `old` are the files of the copy that is there now, if one is."""
    files = copies.digests(source)
    for path in old:
        if path not in files and os.path.exists(os.path.join(dest, path)):
            os.remove(os.path.join(dest, path))
    for path in files:
        target = os.path.join(dest, path)
        if not os.path.isdir(os.path.dirname(target)):
            os.makedirs(os.path.dirname(target))
        shutil.copyfile(os.path.join(source, path), target)
    if with_six and "six.py" not in files:
        add_six(dest)
    copies.write_note(dest)  # last: a copy that was broken off does not look whole


def add_six(dest):
    """Puts six beside the other files, and lets the one module that imports it take that one."""
    shutil.copyfile(inspect.getsourcefile(compat.six), os.path.join(dest, "six.py"))
    path = os.path.join(dest, "compat.py")
    with io.open(path, "rb") as stream:
        text = stream.read()
    with io.open(path, "wb") as stream:
        stream.write(text.replace(IMPORT_SIX, IMPORT_OWN_SIX))
