"""The releases on which this package is tested, with what has to be held back for each.

`matrix.json` is derived from the table that the project's own tests run on.
"""
from __future__ import absolute_import, division, print_function

import collections
import io
import json
import os
import re


class Cell(collections.namedtuple("Cell", "name minor tensorflow python pins")):
    """One TensorFlow on one Python: "py27-tf1.8", "1.8", "tensorflow==1.8.0", "2.7" and a tuple of requirements."""

    __slots__ = ()

    @property
    def requirements(self):
        """What pip is asked for."""
        return (self.tensorflow,) + self.pins


def _read():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "matrix.json")
    with io.open(path, encoding="utf-8") as stream:
        return json.load(stream)


def cells():
    """All cells: one TensorFlow on one Python each, oldest TensorFlow first."""
    return [Cell(str(row["name"]), str(row["minor"]), str(row["tensorflow"]), str(row["python"]),
                 tuple(str(pin) for pin in row["pins"])) for row in _read()["cells"]]


def pip_settings():
    """A dictionary of the environment variables with which pip installs old releases from wheels, in seconds."""
    return dict((str(name), str(value)) for name, value in _read()["pip"].items())


def numbers(version):
    """The numbers of a version, "2.22.0rc0" -> (2, 22, 0), for as text "2.10" < "2.9"."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def minor(version):
    """ "1.15.5" -> "1.15"."""
    return ".".join(str(number) for number in numbers(version)[:2])


def name_of(pin):
    """The name of the package that a pin is about."""
    return re.match(r"[A-Za-z0-9._-]+", pin).group()


def satisfies(version, pin):
    """Whether an installed version is one that a pin allows, "numpy<1.17" or "gast==0.2.2"."""
    sign, bound = re.match(r"[A-Za-z0-9._-]+(==|<)([0-9.]+)$", pin).groups()
    found, bound = numbers(version), numbers(bound)
    length = max(len(found), len(bound))
    found, bound = [part + (0,) * (length - len(part)) for part in (found, bound)]
    return found < bound if sign == "<" else found == bound
