"""Finds gradient code that works on some TensorFlow releases only, and says where, on which, and what to write instead.

The files are parsed by this Python and never imported, run or changed. A file that does not parse is reported: code in
the syntax of Python 2 wants to be scanned by Python 2.7. Only *.py is looked at in a folder; hidden folders and virtual
environments are left out.

The exit status is 0 when all files were read and nothing was found, 1 when something was found, and 2 when the command
line is wrong or a file could not be read, whatever was found in the others.
"""
from __future__ import absolute_import, division, print_function

import ast
import collections
import fnmatch
import io
import os
import sys
import warnings

from . import scan_checks, scan_output, scan_rules
from .scan_names import text_of

try:
    RecursionError
except NameError:
    RecursionError = RuntimeError  # before Python 3.5

#: A file that could not be parsed.
Unread = collections.namedtuple("Unread", "path, line, message")
#: What a scan gives: findings and files that could not be read, both sorted, and the number of files.
Result = collections.namedtuple("Result", "findings, unread, files")

_FORMATS = {"json": scan_output.as_json, "sarif": scan_output.sarif, "github": scan_output.github}


def add_arguments(parser):
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder to look through")
    parser.add_argument("--exclude", action="append", default=[], metavar="PATTERN",
                        help="leave out paths like this, as \"tests\" or \"*/vendor/*\" (may be repeated)")
    parser.add_argument("--ignore", action="append", default=[], metavar="RULE", choices=sorted(scan_rules.BY_ID),
                        help="leave out findings of this rule (may be repeated)")
    formats = parser.add_mutually_exclusive_group()
    for name, title in (("json", "JSON"), ("sarif", "SARIF 2.1.0"), ("github", "annotations of GitHub Actions")):
        formats.add_argument("--" + name, dest="format", action="store_const", const=name, help="write " + title)


def run(arguments):
    """Prints what was found and returns the exit status."""
    files = []
    for path in arguments.paths:
        found = list(python_files(path, arguments.exclude))
        if not found:
            sys.stderr.write("scan: no Python file at %s\n" % path)
            return 2
        files += found
    result = scan(files, arguments.ignore)
    written = _FORMATS.get(arguments.format, scan_output.text)(result, tool())
    if written:
        write(written + "\n")
    return 2 if result.unread else 1 if result.findings else 0


def tool():
    """Who this is, under whatever name the package goes."""
    package = __name__.rpartition(".")[0].rpartition(".")[0]
    return {"name": package, "version": sys.modules[package].__version__}


def python_files(path, exclude=()):
    """The files to scan, sorted: `path` itself, whatever its name, or the *.py below it."""
    if os.path.isfile(path):
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__"
                            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
                            and not _excluded(os.path.join(folder, name), exclude))
        for name in sorted(names):
            if name.endswith(".py") and not _excluded(os.path.join(folder, name), exclude):
                yield os.path.join(folder, name)


def _excluded(path, patterns):
    return any(fnmatch.fnmatch(path, p) or fnmatch.fnmatch(os.path.basename(path), p) for p in patterns)


def scan(files, ignore=()):
    """Scans files and returns a `Result`.

    Args:
      files: paths.
      ignore: the ids of rules whose findings are left out.
    """
    files = sorted(set(files))
    reports, unread = [], []
    for path in files:
        found = scan_file(path)
        (unread if isinstance(found, Unread) else reports).append(found)
    findings = [finding for finding in scan_checks.settle(reports) if finding.rule not in ignore]
    return Result(findings, unread, len(files))


def scan_file(path):
    """The `Report` of a file, or why there is none."""
    name = text_of(path)
    try:
        with io.open(path, "rb") as stream:
            source = stream.read()
        return scan_checks.check(parse(source), name)
    except SyntaxError as error:
        return Unread(name, error.lineno or 1, _syntax_message(error))
    except EnvironmentError as error:
        return Unread(name, 1, text_of(str(error)))
    except (MemoryError, RecursionError):
        return Unread(name, 1, "nested too deeply for Python's parser")


def parse(source):
    """The tree of a source, given as bytes so that its coding line counts. If there is none, it is a SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the scanned code: invalid escapes and the like
        try:
            return ast.parse(source)
        except (TypeError, ValueError) as error:  # null bytes before Python 3.12, and some encodings
            raise SyntaxError(str(error))


def _syntax_message(error):
    other = "3" if sys.version_info[0] == 2 else "2.7"
    return "%s, says Python %d.%d (what is written for Python %s must be scanned by that)" % (
        text_of(error.msg), sys.version_info[0], sys.version_info[1], other)


def write(message):
    """To stdout, in an encoding that can hold it: what cannot be shown is escaped, never an error."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if not isinstance(message, bytes):
        message = message.encode(encoding, "backslashreplace")
    getattr(sys.stdout, "buffer", sys.stdout).write(message)
    sys.stdout.flush()
