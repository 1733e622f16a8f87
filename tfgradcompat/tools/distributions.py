"""What is installed, as the folders of metadata on sys.path say it. Nothing is imported."""
from __future__ import absolute_import, division, print_function

import io
import os
import re
import sys


def installed():
    """{name in lower case, with dashes: version}; of two of a name, the one that Python finds first."""
    found = {}
    for entry in sys.path:
        for name, version, _ in _metadata(entry):
            found.setdefault(name, version)
    return found


def providers(module):
    """`(folder, [(name, version), ...])`: where `module` would be imported from, and who brought it there.

    None for the folder where there is no such module. Two who bring the same one have overwritten each other's files.
    """
    for entry in sys.path:
        folder = os.path.join(entry or os.curdir, module)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return os.path.abspath(folder), [
                (name, version) for name, version, path in _metadata(entry) if _brings(path, module)]
        if os.path.isfile(folder + ".py"):
            return os.path.abspath(folder + ".py"), []
    return None, []


def _metadata(entry):
    """Yields `(name, version, path)` for each distribution that is installed in a folder."""
    if not os.path.isdir(entry or os.curdir):
        return
    for folder in sorted(os.listdir(entry or os.curdir)):
        match = re.match(r"(.+?)-([^-]+)(-py[\d.]+)?\.(dist|egg)-info$", folder)
        if match:
            yield re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2), os.path.join(entry, folder)


def _brings(path, module):
    """Whether a distribution lists the module's first file as its own."""
    if not re.match(r"(.*[-_])?(tensorflow|tf)([-_.]|$)", os.path.basename(path).lower()):
        return False  # lists of files are long
    for name in ("RECORD", "installed-files.txt"):
        record = os.path.join(path, name)
        if os.path.isfile(record):
            with io.open(record, encoding="utf-8") as stream:
                return any(re.match(r"(\.\./)*%s/__init__\.py\b" % module, line) for line in stream)
    return False
