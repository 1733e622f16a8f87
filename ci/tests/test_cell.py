"""The program inside a cell: the right setups, and red when nothing was tested."""
import json
import os
import re
import subprocess
import sys

import pytest

from ci import cell

PROGRAM = os.path.abspath(cell.__file__)
SHOW = """
import os, sys
def test_it():
    print("ROUTE", os.environ.get("TFGRADCOMPAT_ROUTE"), os.environ["TEST_SETUP"])
    print("LATER", os.environ["TEST_SETUP"], os.environ.get("TEST_LATER_SETUP"))
    root = {root!r}
    assert not [path for path in sys.path if os.path.realpath(path or ".") == root]
"""


def run(tmp_path, text, *arguments):
    """The exit status, what the cell says of each setup, and its output."""
    status, summary, output = run_cell(tmp_path, text, *arguments)
    return status, summary["setups"], output


def run_cell(tmp_path, text, *arguments):
    tests = tmp_path / "tests"
    tests.mkdir(exist_ok=True)
    (tests / "test_it.py").write_text(text)
    summary = tmp_path / "summary.json"
    command = [sys.executable, PROGRAM, "--tests", str(tests), "--json", str(summary)]
    done = subprocess.run(
        command + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cell.REPOSITORY
    )
    return done.returncode, json.loads(summary.read_text()), done.stdout.decode()


def with_conftest(tmp_path):
    """Puts the conftest.py of the tests there, without the TensorFlow that it imports; the arguments that it wants."""
    with open(os.path.join(cell.REPOSITORY, "tests", "conftest.py")) as stream:
        (tmp_path / "conftest.py").write_text(stream.read())
    stub = "import os\nclass tf: __version__ = '2.0'\nSETUP, MODES, VERSION = os.environ['TEST_SETUP'], [], (2, 0)\n"
    (tmp_path / "harness.py").write_text(stub)
    return ["--confcutdir", str(tmp_path)]


@pytest.mark.parametrize(
    "version, setups",
    [
        ("0.12.1", ["graph"]),
        ("1.4.1", ["graph"]),
        ("1.5.1", ["graph", "eager"]),
        ("1.6.0", ["graph", "eager"]),
        ("1.7.1", ["graph", "eager", "override"]),
        ("1.10.1", ["graph", "eager", "override"]),
        ("1.15.5", ["graph", "eager", "override"]),
        ("2.0.0", ["eager", "override"]),
        ("2.22.0rc0", ["eager", "override"]),
    ],
)
def test_setups_of_a_version(version, setups):
    assert cell.setups_of(version) == setups


def test_each_setup_is_a_process_with_its_own_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TFGRADCOMPAT_ROUTE", "override")  # the caller's is not passed on
    monkeypatch.setenv("PYTHONPATH", cell.REPOSITORY)
    arguments = ["--setup", "eager", "--setup", "override", "-s"]
    text = SHOW.format(root=os.path.realpath(cell.REPOSITORY))
    status, setups, output = run(tmp_path, text, *arguments)
    assert status == 0, output
    assert [setups[name]["passed"] for name in ("eager", "override")] == [1, 1]
    assert "ROUTE None eager" in output
    assert "ROUTE override override" in output


def test_all_setups_but_the_first_are_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_LATER_SETUP", "1")  # the caller's is not passed on
    text = SHOW.format(root=os.path.realpath(cell.REPOSITORY))
    arguments = ["--setup", "graph", "--setup", "eager", "--setup", "override", "-s"]
    status, _, output = run(tmp_path, text, *arguments)
    assert status == 0, output
    for line in ("LATER graph None", "LATER eager 1", "LATER override 1"):
        assert line in output


def test_what_is_marked_once_runs_in_the_first_setup_only(tmp_path):
    text = "import pytest\n@pytest.mark.once\ndef test_a(): pass\ndef test_b(): pass\n"
    arguments = ["--setup", "eager", "--setup", "override"] + with_conftest(tmp_path)
    status, setups, output = run(tmp_path, text, *arguments)
    assert status == 0, output
    assert [setups[name]["passed"] for name in ("eager", "override")] == [2, 1]
    assert [setups[name]["skipped"] for name in ("eager", "override")] == [0, 0]


def test_a_setup_has_three_processes(tmp_path):
    show = "import os\ndef test_it(): print('PROCESS', os.getpid())\n"
    (tmp_path / "tests").mkdir()
    for name in ("test_1_more.py", "test_2_more.py", "test_10_more.py", "test_5_more.py"):
        (tmp_path / "tests" / name).write_text(show)
    status, setups, output = run(tmp_path, show, "--setup", "graph", "-s")
    assert status == 0 and setups["graph"]["passed"] == 5
    assert len(set(re.findall("PROCESS .*", output))) == 3
    status, setups, output = run(tmp_path, show, "--setup", "graph", "-k", "test_10_more")
    assert status == 0 and setups["graph"]["passed"] == 1


@pytest.mark.parametrize("length, count", [("", 3), ("thorough", 3), ("short", 2)])
def test_section_10_has_a_process_of_its_own_where_its_long_tests_run(tmp_path, monkeypatch, length, count):
    for name in ("test_1_a.py", "test_10_a.py", "test_5_a.py"):
        (tmp_path / name).write_text("")
    monkeypatch.setenv("TEST_LENGTH", length)
    assert len(cell.parts(str(tmp_path))) == count


@pytest.mark.parametrize("name", ["test_10_more.py", "test_1_more.py"])
def test_a_process_that_dies_is_red(tmp_path, name):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_10_passes.py").write_text("def test_it(): pass\n")
    (tmp_path / "tests" / name).write_text("import os\ndef test_it(): os.kill(os.getpid(), 9)\n")
    status, setups, _ = run(tmp_path, "def test_it(): pass\n", "--setup", "graph")
    assert status == 1 and setups["graph"]["status"] == -9


def test_patterns_that_passed_and_failed(tmp_path):
    text = (
        "import pytest\n"
        "@pytest.fixture\n"
        "def note(record_property):\n"
        "    record_property('pattern', 'clip'), record_property('mode', 'graph')\n"
        "def test_a(note): pass\n"
        "def test_b(note): %s\n"
        "def test_c(): assert False\n"
    )
    for line, passed in (("pass", True), ("assert False", False)):
        _, setups, _ = run(tmp_path, text % line, "--setup", "graph")
        assert setups["graph"]["patterns"] == {"clip": {"graph": passed}}


def test_clauses_that_hold_and_that_do_not(tmp_path):
    text = (
        "import os, pytest\n"
        "pytestmark = pytest.mark.clause('1.1')\n"
        "def test_a(): pass\n"
        "@pytest.mark.clause('1.2')\n"
        "@pytest.mark.clause('1.3')\n"
        "def test_b(): pass\n"
        "@pytest.mark.clause('1.3')\n"
        "def test_c(): assert os.environ['TEST_SETUP'] == 'eager'\n"
        "@pytest.mark.clause('1.4')\n"
        "def test_d(): pytest.skip('no')\n"
        "@pytest.mark.clause('1.4')\n"
        "@pytest.mark.one_route\n"
        "def test_e(): pass\n"
        "@pytest.mark.clause('1.5')\n"
        "def test_f(): pytest.skip('no')\n"
        "@pytest.fixture\n"
        "def broken(): raise ValueError\n"
        "@pytest.mark.clause('1.6')\n"
        "def test_g(broken): pass\n"
        "@pytest.mark.clause('1.6')\n"
        "def test_h(): pass\n"
    )
    (tmp_path / "tests").mkdir()
    more = "import pytest\n@pytest.mark.clause('10.1')\ndef test_it(): pass\n"
    (tmp_path / "tests" / "test_10_more.py").write_text(more)
    arguments = ["--setup", "eager", "--setup", "override"] + with_conftest(tmp_path)
    _, found, output = run_cell(tmp_path, text, *arguments)
    # 1.3 fails in one setup, 1.4 is left out in one, and of 1.5 all is skipped
    holding = {"1.1": False, "1.2": True, "1.3": False, "1.4": True, "1.6": False, "10.1": True}
    assert found["clauses"] == holding, output
    _, found, _ = run_cell(tmp_path, text, *(arguments + ["-k", "test_a"]))
    assert found["clauses"] == {"1.1": True}


def test_counts(tmp_path):
    text = (
        "import pytest\n"
        "def test_a(): pass\n"
        "def test_b(): assert False\n"
        "def test_c(): pytest.skip('no')\n"
        "@pytest.fixture\n"
        "def broken(): raise ValueError\n"
        "def test_d(broken): pass\n"
    )
    status, setups, _ = run(tmp_path, text, "--setup", "graph")
    counts = setups["graph"]
    assert status == 1
    assert [counts[key] for key in ("passed", "failed", "skipped", "errors")] == [1, 1, 1, 1]


@pytest.mark.parametrize("text", ["", "import pytest\ndef test_a(): pytest.skip('no')\n", "1 +"])
def test_red_when_no_test_ran(tmp_path, text):
    assert run(tmp_path, text, "--setup", "graph")[0] == 1


def test_other_arguments_go_to_pytest(tmp_path):
    text = "def test_a(): pass\ndef test_b(): assert False\n"
    status, setups, output = run(tmp_path, text, "--setup", "graph", "-k", "test_a")
    assert status == 0, output
    assert setups["graph"]["passed"] == 1


def test_the_first_import_of_tensorflow_keeps_its_bytecode(tmp_path, monkeypatch):
    (tmp_path / "tensorflow.py").write_text("__version__ = '1.3.0'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    assert cell.tensorflow_version() == "1.3.0"
    assert list((tmp_path / "__pycache__").glob("tensorflow.*.pyc"))
