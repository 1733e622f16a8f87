"""Says what is installed here, whether it fits together, and whether custom gradients work in every mode.

It starts without TensorFlow, and tries it in a process of its own, which a broken one may end. The exit status is 0 when
custom gradients work here, 1 when they do not, and 2 when there is no TensorFlow to try. Warnings do not change it.

A custom gradient of yours that has no effect: print(explain(ys, xs)), of this package, says where the way breaks.
"""
from __future__ import absolute_import, division, print_function

import json
import os
import platform
import subprocess
import sys
import textwrap

from . import copies, distributions, known_pairs, matrix
from .. import __version__, compat

PACKAGE = __name__.rpartition(".tools.")[0]
SHOWN = ("numpy", "protobuf", "six", "keras", "tf-keras", "h5py", "grpcio", "gast")


def add_arguments(parser):
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def run(arguments):
    """Prints the report and returns the exit status."""
    report = examine()
    print(json.dumps(report, indent=1, sort_keys=True) if arguments.json else text(report))
    return report["status"]


def examine():
    """All that `doctor` finds, as a dictionary of plain values."""
    report = {"package": own(), "python": {
        "version": platform.python_version(), "executable": sys.executable, "platform": platform.platform()}}
    installed = dict(distributions.installed(), six=compat.six.__version__)
    report["packages"] = dict((name, installed.get(name)) for name in SHOWN)
    folder, providers = distributions.providers("tensorflow")
    found = child()
    version = found.get("version") or (providers[0][1] if providers else None)
    if version and (1, 5) <= matrix.numbers(version) < (2,) and not found.get("error"):
        with_eager = child("eager")  # TensorFlow 1 has to be asked for it
        found["modes"] += [mode for mode in with_eager.get("modes", []) if mode not in found["modes"]]
        found["checks"] += with_eager.get("checks", [])
        found["error"] = with_eager.get("error")
    cell = tested_cell(version)
    report["tensorflow"] = {
        "version": version, "folder": folder, "distributions": providers, "tested": tested(version, cell)}
    report["warnings"] = warnings(report["tensorflow"], report["package"]) + (
        known_pairs.warnings(version, cell, installed) if version else [])
    for key in ("modes", "route", "forced", "probes", "checks", "error"):
        report[key] = found.get(key)
    failed = report["error"] or not all(check["ok"] for check in report["checks"])
    report["status"] = 2 if report["error"] and folder is None else 1 if failed else 0
    report["remedies"] = remedies(report) if failed else []
    return report


def own():
    """This copy of the package."""
    folder = copies.own_folder()
    noted = copies.read_note(folder)
    return {"name": PACKAGE, "version": __version__, "folder": folder, "digest": copies.digest(copies.digests(folder)),
            "vendored": noted[0] if noted else None, "changes": copies.changes(folder, noted[1]) if noted else []}


def child(*arguments):
    """What `examine.py` finds in a process of its own; at least an "error", if that dies."""
    command = [sys.executable, "-m", PACKAGE + ".tools.examine"] + list(arguments)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(entry or os.getcwd() for entry in sys.path))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    out, err = [stream.decode("utf-8", "replace") for stream in process.communicate()]
    if process.returncode == 0 and out.strip():
        return json.loads(out.strip().splitlines()[-1])
    return {"error": "the process that tried it ended with status %d: %s" % (process.returncode, err.strip()[-1000:])}


def tested_cell(version):
    """The cell of the table for this Python and a version of TensorFlow, or None."""
    python = ".".join(platform.python_version_tuple()[:2])
    for cell in matrix.cells():
        if version and cell.minor == matrix.minor(version) and cell.python == python:
            return cell
    return None


def tested(version, cell):
    """Whether a version of TensorFlow was tested, in words."""
    if version is None:
        return None
    if cell is not None:
        exact = cell.tensorflow.split("==")[1]
        return "tested on this Python" if exact == version else "tested on this Python as %s" % exact
    pythons = [cell.python for cell in matrix.cells() if cell.minor == matrix.minor(version)]
    return "not tested on this Python, but on %s" % ", ".join(pythons) if pythons else "not tested on any Python"


def warnings(tensorflow, package):
    """What may be wrong with the installation and with this copy."""
    lines = []
    if len(tensorflow["distributions"]) > 1:
        lines.append("%s have overwritten each other's files. Uninstall all of them, and install one again" %
                     " and ".join("%s %s" % tuple(pair) for pair in tensorflow["distributions"]))
    if tensorflow["folder"] and not tensorflow["distributions"]:
        lines.append("no installed distribution says that it brought %s. If it is a file of yours, give it another "
                     "name" % tensorflow["folder"])
    if package["changes"]:
        lines.append("this copy is no longer version %s as it was vendored: %s" % (
            package["vendored"], ", ".join(package["changes"])))
    return lines


def remedies(report):
    """What to do, most likely first."""
    version, lines = report["tensorflow"]["version"], []
    if report["status"] == 2:
        return ["Install TensorFlow, any release from 0.12 on: pip install tensorflow (tensorflow-cpu will do)"]
    if report["warnings"]:
        lines.append("Mend what the warnings say")
    if "status -4:" in (report["error"] or ""):
        lines.append("The processor lacks instructions that this TensorFlow was compiled for: AVX, from 1.6 on. Take "
                     "an older one, or one that was compiled without")
    cell = tested_cell(version)
    if cell is not None:
        lines.append("Install what was tested: python -m %s tox --tf %s --python %s --constraints DIR, then pip install "
                     "-c DIR/%s.txt %s" % (PACKAGE, cell.minor, cell.python, cell.name, cell.tensorflow.split("==")[0]))
    elif version:
        lines.append("TensorFlow %s is %s. python -m %s tox shows what is" % (
            version, report["tensorflow"]["tested"], PACKAGE))
    if report["forced"]:
        lines.append("Unset TFGRADCOMPAT_ROUTE, which is %s" % report["forced"])
    elif not report["error"] and report["route"] == "native":
        lines.append("Try the other route of graphs: set TFGRADCOMPAT_ROUTE=override")
    return lines + ["If nothing helps, report it with the output of python -m %s doctor --json" % PACKAGE]


# ---- as text

def text(report):
    package, python, tensorflow = report["package"], report["python"], report["tensorflow"]
    lines = [
        entry(package["name"], "%s in %s, digest %s%s" % (
            package["version"], package["folder"], package["digest"][:16],
            ", vendored" + (" and changed" if package["changes"] else "") if package["vendored"] else "")),
        entry("Python", "%s, %s" % (python["version"], python["executable"])),
        entry("TensorFlow", "not found" if not (tensorflow["version"] or tensorflow["folder"]) else "%s%s, %s" % (
            tensorflow["version"] or "broken",
            "".join(" from the distribution %s" % name for name, _ in tensorflow["distributions"]),
            tensorflow["tested"] or tensorflow["folder"])),
        entry("beside it", ", ".join("%s %s" % (name, report["packages"][name] or "-") for name in SHOWN))]
    if report["route"]:
        lines += [entry("modes", ", ".join(report["modes"])),
                  entry("route", "%s, since %s" % (report["route"], why(report))),
                  entry("probes", "there: " + ", ".join(sorted(n for n, there in report["probes"].items() if there))),
                  entry("", "missing: " + ", ".join(sorted(n for n, there in report["probes"].items() if not there)))]
    lines += [entry("warning", line) for line in report["warnings"]]
    lines += table(report["checks"]) if report["checks"] else []
    lines += [entry("error", report["error"])] if report["error"] else []
    lines += [entry("do", line) for line in report["remedies"]]
    return "\n".join(lines + [
        "", ("all right: custom gradients work here", "WRONG: custom gradients do not work here",
             "there is no TensorFlow to try")[report["status"]],
        "Has a custom gradient of yours no effect? print(%s.explain(ys, xs)) says where the way breaks." % PACKAGE])


def entry(name, value):
    """A line that begins with its name; long ones go on below their own beginning."""
    return textwrap.fill(value, 118, initial_indent="%-11s " % name, subsequent_indent=12 * " ",
                         break_long_words=False, break_on_hyphens=False)


def why(report):
    if report["forced"]:
        return "TFGRADCOMPAT_ROUTE forces it"
    return "this TensorFlow %s tf.custom_gradient (1.7 and newer)" % ("has" if report["route"] == "native" else "lacks")


def table(checks):
    """The outcomes, a line for each check and a column for each mode, and what was wrong."""
    modes, names, outcome = [], [], {}
    for check in checks:
        name, mode = check["name"], check["mode"]
        modes += [mode] if mode not in modes else []
        names += [name] if name not in names else []
        if outcome.get((name, mode)) != "WRONG":  # graphs are tried twice on TensorFlow 1: with eager mode on, too
            outcome[name, mode] = "ok" if check["ok"] else "WRONG"
    lines = ["", "self-check".ljust(18) + "".join(mode.ljust(10) for mode in modes)]
    lines += ["  " + name.ljust(16) + "".join(outcome.get((name, mode), "").ljust(10) for mode in modes)
              for name in names]
    for check in checks:
        if not check["ok"]:
            lines.append(entry("wrong", "%s (%s): %s" % (check["name"], check["mode"], check.get("error") or (
                "expected %s, got %s" % (check["expected"], check["got"])))))
    return [line.rstrip() for line in lines]
