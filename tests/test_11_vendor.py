# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md, clauses 11.7 to 11.9: copies of the package in other projects."""
from __future__ import absolute_import, division, print_function

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

import tfgradcompat
from tfgradcompat import __main__
from tfgradcompat.tools import copies

pytestmark = pytest.mark.once

PACKAGE = copies.own_folder()

# Graph mode everywhere: on TensorFlow 2 it is in compat.v1. The gradient of x is said to be that of its place among the
# copies, which shows whose gradient was used, and by that the names in TensorFlow's registry are told apart.
GRADIENTS = """
import importlib, sys
import tensorflow as tf
tf1 = tf.compat.v1 if hasattr(tf, "compat") and hasattr(tf.compat, "v1") else tf
from tensorflow.python.framework import ops

def make(custom_grad, factor):
    @custom_grad
    def scaled(x):
        return x * 2., lambda dy: dy * factor
    return scaled

packages = [importlib.import_module(name) for name in sys.argv[1:]]
functions = [make(package.custom_grad, 5. + i) for i, package in enumerate(packages)]
with tf.Graph().as_default():
    x = tf1.placeholder("float32", [])
    outputs = [f(x) for f in functions]
    gradients = [tf1.gradients(y, x)[0] for y in outputs]
    with tf1.Session() as session:
        assert [float(g) for g in session.run(gradients, {x: 3.})] == [5. + i for i in range(len(packages))]
names = [name for name in ops._gradient_registry._registry if name.endswith("scaled")]
print(" ".join(sorted(name.split(":")[0] for name in names)))
print(" ".join(package.__version__ for package in packages))
"""


def vendor(*arguments):
    return __main__.main(["vendor"] + [str(argument) for argument in arguments])


def run(arguments, folder, **variables):
    """Runs Python in a folder; returns (status, output)."""
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", **variables)
    process = subprocess.Popen([sys.executable] + arguments, cwd=str(folder), env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    out, err = process.communicate()
    out = out.decode("utf-8", "replace")
    return process.returncode, out if process.returncode == 0 else out + err.decode("utf-8", "replace")


def files(folder):
    return sorted(copies.digests(str(folder)))


# ---------------------------------------------------------------------------------------------------------- 11.7 a copy
@pytest.mark.clause("11.7")
def test_copies_everything_with_licence_and_note(tmpdir, capsys):
    copy = tmpdir.join("project", "vendor", "gradcopy")
    assert vendor(copy) == 0
    assert "Copied version %s to %s" % (tfgradcompat.__version__, copy) in capsys.readouterr().out
    assert files(copy) == files(PACKAGE)
    assert "Apache License" in copy.join("LICENSE").read()
    note = io.open(str(copy.join("VENDORED.txt")), encoding="utf-8").read()
    assert "Version %s of tfgradcompat" % tfgradcompat.__version__ in note
    # The digests are those of sha256sum, and the one of all is that of their list.
    lines = re.findall(r"^[0-9a-f]{64}  .+\n", note, re.M)
    assert len(lines) == len(files(PACKAGE))
    for line in lines:
        digest, name = line.split()
        with open(str(copy.join(*name.split("/"))), "rb") as stream:
            assert hashlib.sha256(stream.read()).hexdigest() == digest
    assert "digest " + hashlib.sha256("".join(lines).encode("utf-8")).hexdigest() in note


@pytest.mark.clause("11.7")
def test_six_comes_along_if_asked_and_stays(tmpdir):
    copy, without = tmpdir.join("gradcopy"), tmpdir.join("without")
    assert vendor(copy, "--six") == vendor(copy) == vendor(without) == 0
    # A copy copies itself, six included.
    status, out = run(["-m", "gradcopy", "vendor", "other"], tmpdir)
    assert status == 0, out
    code = "import gradcopy, other, without; print([copy.compat.six.__name__ for copy in (gradcopy, other, without)])"
    assert run(["-c", code], tmpdir)[1].strip() == "['gradcopy.six', 'other.six', 'six']"


# ----------------------------------------------------------------------------------------------------------- 11.8 updates
@pytest.mark.clause("11.8")
def test_changed_copies_are_not_overwritten(tmpdir, capsys):
    copy = tmpdir.join("gradcopy")
    vendor(copy)
    copy.join("calls.py").write("# mine\n", "a")
    copy.join("tools", "mine.py").write("1\n")
    copy.join("leaves.py").remove()
    capsys.readouterr()
    assert vendor(copy) == 1
    err = capsys.readouterr().err
    assert "calls.py changed, leaves.py missing, tools/mine.py added" in err and "--force" in err
    assert "# mine" in copy.join("calls.py").read() and not copy.join("leaves.py").check()
    assert vendor(copy, "--force") == 0
    assert copies.digests(str(copy)) == dict(copies.digests(PACKAGE), **{
        "tools/mine.py": hashlib.sha256(b"1\n").hexdigest()})


@pytest.mark.clause("11.8")
def test_an_update_removes_what_has_gone_and_changed_line_ends_are_no_change(tmpdir):
    copy = tmpdir.join("gradcopy")
    vendor(copy)
    copy.join("old.py").write("1\n")  # as if the version before had had one file more
    copies.write_note(str(copy))
    path = copy.join("calls.py")
    path.write(path.read("rb").replace(b"\n", b"\r\n"), "wb")
    copy.join("__pycache__").ensure(dir=True).join("calls.pyc").write("1")
    assert vendor(copy) == 0
    assert files(copy) == files(PACKAGE)
    assert b"\r" not in path.read("rb")


@pytest.mark.clause("11.8")
def test_folders_of_others_are_left_alone(tmpdir, capsys):
    other = tmpdir.join("vendor").ensure(dir=True)
    other.join("mine.py").write("1\n")
    assert vendor(other) == 1
    assert "without a note (VENDORED.txt)" in capsys.readouterr().err
    assert other.listdir() == [other.join("mine.py")]
    assert vendor(tmpdir.join("empty").ensure(dir=True)) == 0


@pytest.mark.clause("11.8")
def test_destinations_that_cannot_be_right(tmpdir, capsys):
    tmpdir.join("file").write("1")
    for dest, words in (("grad-copy", "cannot be imported"), ("2copies", "cannot be imported"), ("file", "that is a file")):
        assert vendor(tmpdir.join(dest)) == 2
        assert words in capsys.readouterr().err
    assert vendor(PACKAGE) == vendor(os.path.join(PACKAGE, "inner")) == 2
    assert "this package itself" in capsys.readouterr().err


# -------------------------------------------------------------------------------------------- 11.9 all ways of copying
def wheel(folder):
    """The package as a wheel. That of the project is tested in ci/tests, this one on every Python."""
    info = "tfgradcompat-%s.dist-info/" % tfgradcompat.__version__
    contents = {info + "METADATA": "Metadata-Version: 2.1\nName: tfgradcompat\nVersion: %s\n" % tfgradcompat.__version__,
                info + "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
                                "Tag: py2-none-any\nTag: py3-none-any\n"}
    path = str(folder.join("tfgradcompat-%s-py2.py3-none-any.whl" % tfgradcompat.__version__))
    with zipfile.ZipFile(path, "w") as archive:
        for name in files(PACKAGE):
            archive.write(os.path.join(PACKAGE, name), "tfgradcompat/" + name)
        for name in contents:
            archive.writestr(name, contents[name])
        names = archive.namelist() + [info + "RECORD"]
        archive.writestr(info + "RECORD", "".join("%s,,\n" % name for name in names))
    return path


@pytest.mark.clause("11.9")
def test_copies_of_all_kinds_and_versions_in_one_process(tmpdir):
    """An installed one, and renamed ones made by this program, by `cp -R` and by `pip install -t`."""
    assert vendor(tmpdir.join("by_vendor"), "--six") == 0
    shutil.copytree(PACKAGE, str(tmpdir.join("by_cp")), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    command = ["-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", "-t", "target"]
    status, out = run(command + [wheel(tmpdir)], tmpdir)
    assert status == 0, out
    shutil.move(str(tmpdir.join("target", "tfgradcompat")), str(tmpdir.join("by_pip")))
    for name, version in (("by_vendor", "0.0.1"), ("by_cp", "0.0.2")):
        init = tmpdir.join(name, "__init__.py")
        text = init.read()
        init.write(text.replace('__version__ = "%s"' % tfgradcompat.__version__, '__version__ = "%s"' % version))
    tmpdir.join("gradients.py").write(GRADIENTS)
    names = ["tfgradcompat", "by_vendor", "by_cp", "by_pip"]
    status, out = run(["gradients.py"] + names, tmpdir, PYTHONPATH=os.path.dirname(PACKAGE))
    assert status == 0, out
    assert out.splitlines()[-2:] == [
        " ".join(sorted(names)), "%s 0.0.1 0.0.2 %s" % ((tfgradcompat.__version__,) * 2)]


@pytest.mark.clause("11.9")
def test_a_renamed_copy_in_a_package_checks_itself(tmpdir):
    tmpdir.join("project").ensure(dir=True).join("__init__.py").write("")
    assert vendor(tmpdir.join("project", "gradcopy"), "--six") == 0
    status, out = run(["-m", "project.gradcopy", "doctor", "--json"], tmpdir)
    report = json.loads(out)
    assert status == report["status"] == 0
    assert report["package"]["name"] == "project.gradcopy" and report["package"]["changes"] == []
    assert report["package"]["vendored"] == tfgradcompat.__version__
    assert report["checks"] and all(check["ok"] for check in report["checks"])
