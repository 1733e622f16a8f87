# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md, clauses 11.1 to 11.4 and 11.15: the doctor, and the command line."""
from __future__ import absolute_import, division, print_function

import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import harness
import tfgradcompat
from programs import python_path
from tfgradcompat import __main__
from tfgradcompat.tools import copies, distributions, doctor, known_pairs, matrix

pytestmark = pytest.mark.once

PACKAGE = copies.own_folder()
CHECKS = ["value", "gradient", "keyword call", "twice", "second order", "variable", "threads"]


def run(arguments, folder, paths=()):
    """Runs `python -m ...` in a folder, with others on its path; returns (status, output)."""
    env = dict(os.environ, PYTHONPATH=python_path(*paths))
    env.pop("TFGRADCOMPAT_ROUTE", None)
    process = subprocess.Popen([sys.executable, "-m"] + arguments, cwd=str(folder), env=env, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    out, err = [stream.decode("utf-8", "replace") for stream in process.communicate()]
    return process.returncode, out or err


@pytest.fixture(scope="module")
def report(tmpdir_factory):
    """What the doctor says here, as JSON."""
    folder = tmpdir_factory.mktemp("doctor")
    status, out = run(["tfgradcompat", "doctor", "--json"], folder, [os.path.dirname(PACKAGE)])
    found = json.loads(out)
    assert status == found["status"] == 0, out
    return found


# ----------------------------------------------------------------------------------------------------- 11.1 what it says
@pytest.mark.clause("11.1")
def test_what_is_installed(report):
    python = "%d.%d" % sys.version_info[:2]
    assert report["python"]["version"] == platform.python_version()
    assert report["packages"]["numpy"] == np.__version__ and report["packages"]["six"]
    assert set(report["packages"]) == set("numpy protobuf six keras tf-keras h5py grpcio gast".split())
    found = report["tensorflow"]
    assert found["version"].replace("-", "") == tf.__version__.replace("-", "")
    assert os.path.dirname(found["folder"]) in sys.path
    [[name, version]] = found["distributions"]
    assert name.startswith("tensorflow") and version == tf.__version__.replace("-", "")
    cells = [cell for cell in matrix.cells() if cell.minor == "%d.%d" % harness.VERSION]
    words = "tested on this Python" if python in [cell.python for cell in cells] else "not tested on "
    assert found["tested"].startswith(words)
    assert report["package"]["name"] == "tfgradcompat" and report["package"]["folder"] == PACKAGE
    assert report["package"]["version"] == tfgradcompat.__version__
    assert report["package"]["digest"] == copies.digest(copies.digests(PACKAGE))
    assert report["package"]["vendored"] is None


@pytest.mark.clause("11.1")
def test_what_this_tensorflow_has(report):
    native = hasattr(tf, "custom_gradient")
    assert report["route"] == ("native" if native else "override") and report["forced"] is None
    assert report["probes"]["GradientTape"] == (harness.VERSION >= (1, 5))
    assert report["probes"]["identity_n"] == (harness.VERSION >= (1, 4))
    assert report["probes"]["has_op_callbacks"] == (harness.VERSION >= (2, 1))
    text = doctor.text(report)
    assert "route       %s, since this TensorFlow %s tf.custom_gradient" % (
        report["route"], "has" if native else "lacks") in text
    assert "all right: custom gradients work here" in text
    assert "print(tfgradcompat.explain(ys, xs))" in text


@pytest.mark.clause("11.1")
def test_statuses_and_versions_in_words():
    cells = dict((cell.name, cell) for cell in matrix.cells())
    assert doctor.tested("1.15.5", cells["py37-tf1.15"]) == "tested on this Python"
    assert doctor.tested("1.15.2", cells["py37-tf1.15"]) == "tested on this Python as 1.15.5"
    assert doctor.tested("1.8.0", None) == "not tested on this Python, but on 2.7, 3.6"
    assert doctor.tested("3.0.0", None) == "not tested on any Python"


# -------------------------------------------------------------------------------------- 11.2 without, and with a broken one
@pytest.fixture
def bare(tmpdir):
    """A folder to put on the path: a copy of the package with its own six, and no other package to be found."""
    assert __main__.main(["vendor", str(tmpdir.join("gradcopy")), "--six"]) == 0
    tmpdir.join("sitecustomize.py").write(
        "import site, sys\nsys.path[:] = [path for path in sys.path if 'site-packages' not in path]\n"
        "site.addsitedir = lambda *unused: None\n")  # environments of Python 2.7 go on after this file
    return tmpdir


@pytest.mark.clause("11.2")
def test_without_tensorflow_and_numpy(bare):
    status, out = run(["gradcopy", "doctor"], bare, [bare])
    assert status == 2, out
    assert "TensorFlow  not found" in out and "numpy -" in out and "there is no TensorFlow to try" in out
    assert "do          Install TensorFlow, any release from 0.12 on: pip install tensorflow" in out
    status, out = run(["gradcopy", "doctor", "--json"], bare, [bare])
    assert status == json.loads(out)["status"] == 2
    assert json.loads(out)["tensorflow"] == {"version": None, "folder": None, "distributions": [], "tested": None}


@pytest.mark.clause("11.2")
@pytest.mark.parametrize("code, words", [
    ("raise SystemError('initialization failed')", "SystemError: initialization failed"),
    ("import os, sys\nsys.stderr.write('Illegal instruction')\nos.kill(os.getpid(), 4)", "AVX, from 1.6 on"),
    ("x = 1", "no attribute '__version__'"),
])
def test_with_a_tensorflow_that_cannot_be_imported(bare, code, words):
    bare.join("tensorflow", "__init__.py").write(code, ensure=True)
    status, out = run(["gradcopy", "doctor"], bare, [bare])
    out = " ".join(out.split())
    assert status == 1 and words in out, out
    assert "warning no installed distribution says that it brought" in out
    assert "report it with the output of python -m gradcopy doctor --json" in out
    assert "WRONG: custom gradients do not work here" in out


@pytest.mark.clause("11.2")
def test_two_distributions_that_overwrote_each_other(bare):
    bare.join("tensorflow", "__init__.py").write("raise ImportError('torn')", ensure=True)
    for name in ("tensorflow-2.9.3", "tensorflow_cpu-2.10.1", "tensorflow_estimator-2.9.0"):
        brought = "tensorflow_estimator" if "estimator" in name else "tensorflow"
        bare.join(name + ".dist-info", "RECORD").write("%s/__init__.py,,\n" % brought, ensure=True)
    status, out = run(["gradcopy", "doctor", "--json"], bare, [bare])
    report = json.loads(out)
    assert status == 1
    assert sorted(report["tensorflow"]["distributions"]) == [["tensorflow", "2.9.3"], ["tensorflow-cpu", "2.10.1"]]
    assert "have overwritten each other's files" in report["warnings"][0]


# ------------------------------------------------------------------------------------------------------ 11.3 self-check
@pytest.mark.clause("11.3")
def test_checks_every_mode_that_there_is(report):
    version = harness.VERSION
    if version >= (2, 0):
        modes = ["eager", "function", "graph"]
    else:  # graphs first, then with eager mode on: functions from 1.14, graphs again from 1.9
        modes = ["graph"] + ["eager"] * (version >= (1, 5)) + ["function"] * (version >= (1, 14))
    assert report["modes"] == modes
    for mode in modes:
        names = [check["name"] for check in report["checks"] if check["mode"] == mode]
        assert names == CHECKS * (2 if mode == "graph" and (1, 9) <= version < (2, 0) else 1)
    assert all(check["ok"] and check["got"] for check in report["checks"])


WRONG = """

right = custom_grad


def custom_grad(f):
  def wrong(*args):
    result, in_grad = f(*args)
    twice = lambda g: [twice(one) for one in g] if isinstance(g, (list, tuple)) else g + g
    return result, lambda *dys, **variables: twice(in_grad(*dys, **variables))
  return right(wrong)
"""


@pytest.mark.clause("11.3")
def test_a_wrong_gradient_is_found(tmpdir):
    """A copy that makes twice of each gradient what it should be, and takes no arguments by name."""
    assert __main__.main(["vendor", str(tmpdir.join("gradcopy"))]) == 0
    tmpdir.join("gradcopy", "__init__.py").write(WRONG, "a")
    status, out = run(["gradcopy", "doctor", "--json"], tmpdir)
    report = json.loads(out)
    assert status == report["status"] == 1
    wrong = [check for check in report["checks"] if not check["ok"]]
    assert set(check["name"] for check in wrong) == set(CHECKS) - set(["value"])
    assert [check["got"] for check in wrong if check["name"] == "gradient"][0] == [10., 10.]
    assert "TypeError" in [check["error"] for check in wrong if check["name"] == "keyword call"][0]
    assert report["package"]["changes"] == ["__init__.py changed"]
    text = doctor.text(report)
    assert "expected [5.0, 5.0], got [10.0, 10.0]" in text and "WRONG: custom gradients do not work here" in text
    assert "as it was vendored: __init__.py changed" in text
    assert ("TFGRADCOMPAT_ROUTE=override" in text) == hasattr(tf, "custom_gradient")


# ---------------------------------------------------------------------------------------------------- 11.4 known pairs
@pytest.mark.clause("11.4")
@pytest.mark.parametrize("tensorflow, installed, words", [
    # As seen: each of these pairs was installed once.
    ("1.15.5", {"protobuf": "4.21.12"}, "importing TensorFlow fails. pip install 'protobuf<3.21'"),
    ("2.9.3", {"protobuf": "4.21.12"}, "importing TensorFlow fails. pip install 'protobuf<3.21'"),
    ("1.15.5", {"numpy": "1.21.6"}, "tf.zeros and tf.ones with a tensor in the shape fail. pip install 'numpy<1.20'"),
    ("2.3.4", {"numpy": "1.24.4"}, "importing TensorFlow fails. pip install 'numpy<1.20'"),
    ("2.6.5", {"numpy": "1.24.4"}, "importing TensorFlow fails. pip install 'numpy<1.24'"),
    ("2.6.5", {"numpy": "1.20.3"}, None),
    ("2.9.3", {"numpy": "1.26.4"}, None),
    ("2.9.3", {"numpy": "2.0.2"}, "importing TensorFlow fails. pip install 'numpy<2'"),
    ("2.15.1", {"numpy": "2.0.2"}, "importing TensorFlow fails. pip install 'numpy<2'"),
    ("2.20.0", {"numpy": "2.5.5", "protobuf": "7.36.2", "keras": "3.15.1"}, None),
    ("2.3.4", {"h5py": "3.8.0"}, "loading a Keras model from HDF5 fails. pip install 'h5py<3'"),
    ("2.6.5", {"h5py": "3.8.0"}, None),
    ("2.6.5", {"keras": "2.8.0"}, "tf.keras fails. pip install 'keras<2.7'"),
    ("2.9.3", {"keras": "2.6.0"}, None),
    ("2.15.1", {"keras": "3.3.3"}, "tf.keras fails. pip install 'keras<2.16'"),
    ("1.14.0", {"gast": "0.5.4"}, "AutoGraph cannot convert Python control flow. pip install 'gast==0.2.2'"),
])
def test_pairs_that_are_known_to_break(tensorflow, installed, words):
    lines = known_pairs.warnings(tensorflow, None, installed)
    if words is None:
        assert lines == []
    else:
        [[name, version]] = installed.items()
        assert len(lines) == 1 and words in lines[0]
        assert lines[0].startswith("%s %s breaks TensorFlow %s: " % (name, version, tensorflow))


@pytest.mark.clause("11.4")
def test_what_the_table_holds_back():
    cell = [cell for cell in matrix.cells() if cell.name == "py38-tf2.8"][0]
    [line] = known_pairs.warnings("2.8.4", cell, {"numpy": "1.24.4", "protobuf": "3.20.3"})
    assert line == "numpy 1.24.4 was not tested with TensorFlow 2.8.4; numpy<1.24 was"


@pytest.mark.clause("11.4")
def test_no_cell_of_the_table_has_a_warning(report):
    if not report["tensorflow"]["tested"].startswith("tested"):
        pytest.skip("TensorFlow %s is not in the table for this Python (11.4)" % tf.__version__)
    assert report["warnings"] == []


@pytest.mark.clause("11.4")
def test_names_of_distributions(tmpdir, monkeypatch):
    for name in ("Keras_Applications-1.0.8.dist-info", "six-1.15.0-py2.7.egg-info", "protobuf-3.20.3.dist-info"):
        tmpdir.join("one", name).ensure(dir=True)
    tmpdir.join("two", "six-1.16.0.dist-info").ensure(dir=True)
    monkeypatch.setattr(sys, "path", [str(tmpdir.join("one")), str(tmpdir.join("two")), str(tmpdir.join("gone"))])
    assert distributions.installed() == {"keras-applications": "1.0.8", "six": "1.15.0", "protobuf": "3.20.3"}
    assert distributions.providers("tensorflow") == (None, [])


# ------------------------------------------------------------------------------------------------------ 11.15 command line
@pytest.mark.clause("11.15")
def test_only_the_asked_command_is_imported_and_no_tensorflow(tmpdir):
    code = ("import sys; sys.path.append(%r); from tfgradcompat import __main__\n"
            "tools = lambda: sorted(m.split('.')[2] for m in sys.modules if m.startswith('tfgradcompat.tools.') and sys.modules[m])\n"
            "assert tools() == [], tools()\n"
            "try: __main__.main(['vendor', '--help'])\n"
            "except SystemExit: pass\n"
            "assert 'vendor' in tools() and not set(tools()) & set(['demo', 'doctor', 'toxini']), tools()\n"
            "assert 'tensorflow' not in sys.modules and 'numpy' not in sys.modules" % os.path.dirname(PACKAGE))
    assert subprocess.call([sys.executable, "-c", code], cwd=str(tmpdir)) == 0


@pytest.mark.clause("11.15")
@pytest.mark.parametrize("command", sorted(__main__.COMMANDS))
def test_each_command_says_what_it_is_for(command, capsys):
    with pytest.raises(SystemExit) as caught:
        __main__.main([command, "--help"])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "usage: python -m tfgradcompat %s" % command in out and "%(prog)" not in out
    with pytest.raises(SystemExit):
        __main__.main(["--help"])
    assert __main__.COMMANDS[command][1].split()[0] in capsys.readouterr().out
