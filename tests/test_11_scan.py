# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md: `python -m tfgradcompat scan`. What it finds is tested by test_11_scan_corpus.py."""
from __future__ import absolute_import, division, print_function

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time

import pytest

import scan_trial
import tfgradcompat
from programs import python_path
from tfgradcompat import __main__, testing
from tfgradcompat.tools import scan, scan_checks, scan_rules

PACKAGE = os.path.dirname(os.path.abspath(tfgradcompat.__file__))
DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "docs", "scan.md")
PY2 = sys.version_info[0] == 2

pytestmark = pytest.mark.once

TRICK = u"import tensorflow as tf\n\ny = x + tf.stop_gradient(tf.round(x) - x)\n"


def write(folder, name, source, encoding="utf-8"):
    path = folder.join(name)
    path.write_binary(source.encode(encoding), ensure=True)
    return str(path)


def run(*arguments, **options):
    """The command line in a process of its own: (status, stdout, stderr)."""
    package = options.pop("package", "tfgradcompat")
    code = options.pop("code", "") + "import runpy; runpy.run_module(%r, run_name='__main__')" % package
    process = subprocess.Popen([sys.executable, "-c", code, "scan"] + list(arguments), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **options)
    out, err = process.communicate()
    return process.returncode, out.decode("utf-8"), err.decode("utf-8", "replace")


def findings(source):
    """(line, rule) of what is found in one source."""
    report = scan_checks.check(scan.parse(source.encode("utf-8")), "a.py")
    return [(finding.line, finding.rule) for finding in scan_checks.settle([report])]


# ------------------------------------------------------------------------------------------------------ what it says
@pytest.mark.clause("11.20")
def test_a_finding_has_place_rule_releases_and_replacement(tmpdir, capsys):
    path = write(tmpdir, "a.py", TRICK)
    assert __main__.main(["scan", path]) == 1
    out = capsys.readouterr().out
    rule = scan_rules.BY_ID["stop-gradient-trick"]
    assert out.startswith("%s:3:5: stop-gradient-trick: " % path)
    assert rule.silent in out and rule.instead in out
    assert "1 findings in 1 of 1 files, 0 not read" in out


@pytest.mark.clause("11.20")
def test_each_rule_says_releases_and_a_replacement_that_exists():
    for rule in scan_rules.RULES:
        assert rule.silent or rule.error, rule.id
        for text in (rule.silent, rule.error):
            assert not text or re.search(r"\d\.\d+|All releases|On (the )?releases|Private", text), rule.id
        public = tfgradcompat.__all__ + testing.__all__
        named = [name for name in re.findall(r"\w+", rule.instead) if name in public]
        assert named, rule.id


@pytest.mark.clause("11.20")
def test_the_document_has_the_rules_of_the_code():
    with io.open(DOCUMENT, encoding="utf-8") as stream:
        lines = stream.read().split("\n")
    rows = [line for line in lines if re.match(r"\| `[a-z-]+` \|", line)]
    assert rows == ["| `%s` | %s | %s | %s | %s |" % (
        rule.id, rule.title, rule.silent or u"–", rule.error or u"–", rule.instead) for rule in scan_rules.RULES]


@pytest.mark.clause("11.20")
@pytest.mark.parametrize("imports, name", [
    ("import tensorflow as tf", "tf.stop_gradient"),
    ("import tensorflow", "tensorflow.stop_gradient"),
    ("import tensorflow.compat.v1 as tf", "tf.stop_gradient"),
    ("from tensorflow.compat import v1", "v1.stop_gradient"),
    ("import tensorflow as tf\nv1 = tf.compat.v1 if hasattr(tf, 'compat') else tf", "v1.stop_gradient"),
    ("from tensorflow import stop_gradient as sg", "sg"),
    ("from tensorflow import *", "stop_gradient"),
    ("from tensorflow.python.ops import array_ops", "array_ops.stop_gradient"),
    ("import tensorflow as tf\nsg = stop = tf.stop_gradient", "sg"),
    ("import tensorflow as tf\nsg = getattr(tf, 'stop_gradient', None)", "sg"),
    ("import tensorflow as tf\na, sg = tf.identity, tf.stop_gradient", "sg"),
    ("import importlib\nT = importlib.import_module('tensorflow')", "T.stop_gradient"),
    ("from .compat import tf", "tf.stop_gradient"),
    ("from keras import backend as K", "K.stop_gradient"),
    ("import tensorflow.keras.backend as K", "K.stop_gradient"),
    ("try:\n  import tensorflow.compat.v1 as tf\nexcept ImportError:\n  import tensorflow as tf", "tf.stop_gradient"),
])
def test_aliases_are_followed(imports, name):
    if "import_module('" in imports:
        imports = imports.replace("import importlib\nT = importlib.", "from importlib import import_module\nT = ")
    found = findings(imports + "\ny = x + %s(q - x)" % name)
    assert [rule for _, rule in found] == ["stop-gradient-trick"]


@pytest.mark.clause("11.20")
@pytest.mark.parametrize("imports, name", [
    ("import jax.lax as tf", "tf.stop_gradient"),
    ("from jax.lax import stop_gradient", "stop_gradient"),
    ("import tensorflow as tf\nclass tf(object): pass", "other.stop_gradient"),
    ("def stop_gradient(x): return x", "stop_gradient"),
])
def test_other_things_of_that_name_are_not_tensorflow(imports, name):
    assert findings(imports + "\ny = x + %s(q - x)" % name) == []


@pytest.mark.clause("11.20")
def test_a_name_that_is_bound_elsewhere():
    source = ("def setup():\n    global tf\n    import tensorflow.compat.v1 as tf\n\n\n"
              "def f(x):\n    return x + tf.stop_gradient(q - x)\n\n\n"
              "def g(x, stop_gradient):\n    return x + stop_gradient(q - x)\n")
    assert findings(source) == [(7, "stop-gradient-trick")]


@pytest.mark.clause("11.20")
def test_an_override_in_another_file_makes_a_fixed_name_a_finding(tmpdir, capsys):
    write(tmpdir, "a.py", u"import tensorflow as tf\n@tf.RegisterGradient('Mine')\ndef f(op, dy): return dy\n")
    assert __main__.main(["scan", str(tmpdir)]) == 0  # the gradient of an operation of one's own
    write(tmpdir, "b.py", u"def f(g):\n    return g.gradient_override_map({'Relu': 'Mine'})\n")
    assert __main__.main(["scan", str(tmpdir)]) == 1
    assert "a.py:2:2: register-fixed-name" in capsys.readouterr().out


# ----------------------------------------------------------------------------------------------------------- formats
@pytest.fixture
def folder(tmpdir):
    write(tmpdir, u"mine, 100%.py", TRICK)
    write(tmpdir, "bad.py", u"def f(:\n")
    return tmpdir


@pytest.mark.clause("11.21")
def test_json(folder):
    status, out, _ = run("--json", ".", cwd=str(folder))
    result = json.loads(out)
    assert status == 2
    assert result["files"] == 2 and result["tool"] == {"name": "tfgradcompat", "version": tfgradcompat.__version__}
    finding, = result["findings"]
    assert finding["path"] == os.path.join(".", "mine, 100%.py")
    assert (finding["line"], finding["rule"]) == (3, "stop-gradient-trick")
    assert finding["instead"] == scan_rules.BY_ID["stop-gradient-trick"].instead
    assert [(unread["path"], unread["line"]) for unread in result["unread"]] == [(os.path.join(".", "bad.py"), 1)]


@pytest.mark.clause("11.21")
def test_sarif_has_what_the_standard_requires(folder):
    log = json.loads(run("--sarif", ".", cwd=str(folder))[1])
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    run_, = log["runs"]
    rules = run_["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.id for rule in scan_rules.RULES]
    assert {rule["id"]: rule["name"] for rule in rules}["stop-gradient-trick"] == "StopGradientTrick"
    result, = run_["results"]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "stop-gradient-trick"
    assert result["level"] == "error" and result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "./mine%2C%20100%25.py"}, "region": {"startLine": 3}}
    invocation, = run_["invocations"]
    assert invocation["executionSuccessful"] is False and len(invocation["toolExecutionNotifications"]) == 1


@pytest.mark.clause("11.21")
def test_github_annotations_are_escaped(folder):
    lines = run("--github", ".", cwd=str(folder))[1].splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("::error file=.%smine%%2C 100%%25.py,line=3,title=stop-gradient-trick::a sum " % os.sep)
    assert lines[1].startswith("::error file=.%sbad.py,line=1,title=not read::" % os.sep)


# ------------------------------------------------------------------------------------------------------- exit status
@pytest.mark.clause("11.22")
@pytest.mark.parametrize("sources, status", [
    ([u"x = 1\n"], 0), ([TRICK], 1), ([u"x = 1\n", TRICK], 1), ([u"def f(:\n"], 2), ([TRICK, u"def f(:\n"], 2),
    ([], 2)])
def test_exit_status(tmpdir, capsys, sources, status):
    for number, source in enumerate(sources):
        write(tmpdir, "%d.py" % number, source)
    assert __main__.main(["scan", str(tmpdir)]) == status


@pytest.mark.clause("11.22")
@pytest.mark.parametrize("arguments", [
    [], ["no/such/path"], [".", "--no-such-option"], [".", "--ignore", "no-such-rule"], [".", "--json", "--sarif"]])
def test_a_wrong_command_line_is_status_2(arguments):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "") and err


@pytest.mark.clause("11.22")
def test_what_is_left_out(tmpdir, capsys):
    for name in ("a.py", "tests/b.py", "vendor/x/c.py", ".hidden/d.py", "env/e.py", "notes.txt"):
        write(tmpdir, name, TRICK)
    write(tmpdir, "env/pyvenv.cfg", u"")
    assert __main__.main(["scan", str(tmpdir), "--exclude", "tests", "--exclude", "*/vendor/*", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == 1 and found["findings"][0]["path"] == str(tmpdir.join("a.py"))
    assert __main__.main(["scan", str(tmpdir.join("notes.txt"))]) == 1  # a file is read whatever its name
    assert __main__.main(["scan", str(tmpdir), "--ignore", "stop-gradient-trick"]) == 0
    capsys.readouterr()
    assert __main__.main(["scan", str(tmpdir), str(tmpdir.join("a.py")), "--exclude", "vend?r", "--github"]) == 1
    assert capsys.readouterr().out.count("::error file=") == 2  # a.py once, tests/b.py


# ------------------------------------------------------------------------------------------- sources of every kind
@pytest.mark.clause("11.23")
def test_the_syntax_of_the_other_python_is_reported_and_the_rest_is_scanned(tmpdir, capsys):
    other = u"def f(*, x): return f'{x}'\n" if PY2 else u"import os\nprint 'x'\n"
    write(tmpdir, "other.py", other)
    write(tmpdir, "mine.py", TRICK)
    assert __main__.main(["scan", str(tmpdir)]) == 2
    out = capsys.readouterr().out
    assert re.search(r"other\.py:%d: not read: .*Python %s" % (1 if PY2 else 2, "3" if PY2 else r"2\.7"), out)
    assert "mine.py:3:5: stop-gradient-trick" in out and "1 not read" in out


@pytest.mark.clause("11.23")
@pytest.mark.parametrize("source", [
    TRICK + u"\0", u"# coding: no-such-encoding\n" + TRICK, TRICK + u"x = " + u"(" * 5000 + u")" * 5000,
    TRICK + u"x = " + u"-" * 30000 + u"1"])
def test_what_does_not_parse_is_reported(tmpdir, source):
    path = write(tmpdir, "a.py", source)
    status, out, err = run(path)  # its own process: a stack that overflows would end this one
    assert status == 2 and "a.py:" in out and ": not read: " in out and "1 not read" in out, err


@pytest.mark.clause("11.23")
@pytest.mark.parametrize("coding, encoding", [
    ("", "utf-8"), (u"\ufeff", "utf-8"), (u"# -*- coding: latin-1 -*-\n", "latin-1"),
    (u"# vim: set fileencoding=cp1252 :\n", "cp1252")])
def test_encodings(tmpdir, capsys, coding, encoding):
    source = (coding or u"# coding: utf-8\n") + u"name = u'Größe'\n" + TRICK
    path = write(tmpdir, "a.py", source, encoding)
    assert __main__.main(["scan", path]) == 1
    assert ": stop-gradient-trick: " in capsys.readouterr().out


@pytest.mark.clause("11.23")
def test_line_ends_of_windows_and_no_last_one(tmpdir, capsys):
    path = write(tmpdir, "a.py", TRICK.replace(u"\n", u"\r\n").rstrip())
    assert __main__.main(["scan", path]) == 1
    assert "a.py:3:5: stop-gradient-trick" in capsys.readouterr().out


@pytest.mark.clause("11.23")
@pytest.mark.parametrize("option", [None, "--json", "--sarif", "--github"])
def test_names_that_stdout_cannot_show(tmpdir, option):
    write(tmpdir, "a.py", u"# coding: utf-8\nimport tensorflow as tf\ng.gradient_override_map({'Größe': 'Maß'})\n")
    env = dict(os.environ, PYTHONIOENCODING="ascii", LC_ALL="C")
    status, out, err = run(*([option] if option else []) + ["a.py"], cwd=str(tmpdir), env=env)
    assert status == 1 and "override-map" in out, err


# ----------------------------------------------------------------------------------------------------- no side effects
@pytest.mark.clause("11.24")
def test_nothing_is_imported_run_or_written(tmpdir):
    write(tmpdir, "a.py", TRICK + u"open('ran', 'w').close()\nraise SystemExit(7)\n")
    write(tmpdir, "tensorflow.py", u"open('imported', 'w').close()\n")
    before = [(str(path), path.read_binary(), path.mtime()) for path in sorted(tmpdir.listdir())]
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    env["PYTHONPATH"] = python_path(tmpdir, os.path.dirname(PACKAGE))
    status, out, err = run(str(tmpdir), env=env, cwd=str(tmpdir))
    assert status == 1, err
    assert [(str(path), path.read_binary(), path.mtime()) for path in sorted(tmpdir.listdir())] == before


@pytest.mark.clause("11.24")
def test_it_needs_no_tensorflow_and_works_under_another_name(tmpdir):
    shutil.copytree(PACKAGE, str(tmpdir.join("gradcopy")), ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    path = write(tmpdir, "a.py", TRICK)
    blocked = "import sys; sys.modules['tensorflow'] = sys.modules['tfgradcompat'] = None; sys.path.insert(0, %r); "
    status, out, err = run("--json", path, package="gradcopy", code=blocked % str(tmpdir))
    assert status == 1, err
    assert json.loads(out)["tool"]["name"] == "gradcopy"


@pytest.mark.clause("11.24")
def test_100000_lines_take_less_than_10_seconds(tmpdir):
    """A tenth of it, in a tenth of the time: the snippets over and over, with a finding in every tenth line."""
    snippets = [s.source for part in ("first", "second") for s in scan_trial.snippets(part)]
    text = u"\n".join(snippets)
    paths = [write(tmpdir, "%d.py" % number, text) for number in range(10000 // text.count(u"\n") + 1)]
    clock = getattr(time, "process_time", getattr(time, "clock", None))  # of this process: the machine may be busy
    times = []
    for _ in range(3):
        start = clock()
        result = scan.scan(paths)
        times.append(clock() - start)
    assert not result.unread and len(result.findings) > 1000
    assert min(times) < 1., times
