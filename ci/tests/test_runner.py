"""`ci/test` as a whole, with small environments instead of TensorFlow's."""
import json
import time

import pytest

from ci import runner, wheels

NAMES = ["py27-tf1.3", "py36-tf1.3", "py27-tf1.2"]

def run(fakes, *arguments):
    """The exit status and the rows by name."""
    path = str(fakes / "results.json")
    status = runner.main(["--tests", str(fakes / "tests"), "--json", path] + list(arguments))
    with open(path) as stream:
        return status, {row["name"]: row for row in json.load(stream)}


def last_line(capsys):
    return capsys.readouterr().out.splitlines()[-1]


def test_all_good(fakes, capsys):
    status, rows = run(fakes, *NAMES)
    assert last_line(capsys) == "3 passed, 0 failed"
    assert status == 0
    assert rows["py27-tf1.3"]["setups"]["graph"]["passed"] == 1


def test_results_say_of_what_and_when_they_are(fakes, monkeypatch):
    monkeypatch.setattr(wheels, "commit", lambda: "f33e1ad")
    (fakes / "tests" / "conftest.py").write_text(
        "def pytest_collection_modifyitems(items):\n    items[0].user_properties.append(('clause', '8.1'))\n"
    )
    row = run(fakes, NAMES[0], "--thorough", "--pytest", "-k test_it")[1][NAMES[0]]
    assert row["clauses"] == {"8.1": True}
    assert (row["commit"], row["thorough"], row["pytest"]) == ("f33e1ad", True, "-k test_it")
    assert row["date"] == time.strftime("%Y-%m-%d")


@pytest.mark.parametrize("name, arguments, length", [
    (NAMES[0], [], ""), (NAMES[1], [], "short"), (NAMES[0], ["--thorough"], "thorough"), (NAMES[1], ["--thorough"], "thorough")])
def test_long_tests_run_on_the_core_and_where_they_are_asked_for(fakes, name, arguments, length):
    (fakes / "tests" / "test_it.py").write_text(
        "import os\ndef test_it(): assert os.environ['TEST_LENGTH'] == %r" % length)
    assert run(fakes, name, *arguments)[0] == 0


def test_a_failing_cell_does_not_stop_the_others(fakes, capsys, monkeypatch):
    monkeypatch.setenv("BAD_CELLS", NAMES[0])
    status, rows = run(fakes, *NAMES)
    output = capsys.readouterr().out
    assert output.splitlines()[-1] == "2 passed, 1 failed"
    assert "AssertionError" in output and rows[NAMES[0]]["log"] in output
    assert status == 1
    assert [rows[name]["status"] for name in NAMES] == ["failed", "passed", "passed"]


def test_a_failure_in_the_first_of_two_setups_is_shown(fakes, capsys):
    (fakes / "fake" / "tensorflow.py").write_text("__version__ = '2.0.0'\n")
    text = "import os\ndef test_it(): assert os.environ['TEST_SETUP'] == 'override', 'a ' + 'remark'\n"
    (fakes / "tests" / "test_it.py").write_text(text + "def test_other():\n" + "    assert True\n" * 50)
    assert run(fakes, NAMES[0])[0] == 1
    output = capsys.readouterr().out
    assert "| ==== setup eager" in output and "| ==== setup override" not in output
    assert "FAILED" in output and "AssertionError: a remark" in output and "| good override" in output


def test_a_cell_that_cannot_be_installed_does_not_stop_the_others(fakes, capsys, monkeypatch):
    monkeypatch.setenv("NO_INSTALL", NAMES[0])
    status, rows = run(fakes, *NAMES)
    assert last_line(capsys) == "2 passed, 1 failed"
    assert status == 1
    assert "InstallFailed" in rows[NAMES[0]]["note"]


def test_a_cell_in_which_no_test_ran_is_red(fakes, capsys):
    (fakes / "tests" / "test_it.py").write_text("")
    assert run(fakes, NAMES[0])[0] == 1
    assert last_line(capsys) == "0 passed, 1 failed"


def test_a_cell_that_takes_too_long_is_red(fakes, capsys):
    (fakes / "tests" / "test_it.py").write_text("import time\ndef test_it(): time.sleep(60)\n")
    status, rows = run(fakes, NAMES[0], "--timeout", "3")
    assert status == 1
    assert "more than 3 s" in rows[NAMES[0]]["note"]


def test_a_missing_python_is_not_run_and_red_only_when_strict(fakes, capsys, monkeypatch):
    found = runner.find_interpreter("3.6")
    monkeypatch.setattr(runner, "find_interpreter", lambda python: python == "3.6" and found or None)
    status, rows = run(fakes, *NAMES)
    output = capsys.readouterr().out
    assert output.splitlines()[-1] == "1 passed, 0 failed, 2 skipped"
    assert "not run" in output and "pyenv install 2.7.18" in output
    assert status == 0
    assert run(fakes, "--strict", *NAMES)[0] == 1


def test_nothing_run_at_all_is_red(fakes, monkeypatch):
    monkeypatch.setattr(runner, "find_interpreter", lambda python: None)
    assert run(fakes, NAMES[0])[0] == 1


def test_unknown_cell_is_a_clear_error(fakes):
    with pytest.raises(SystemExit, match="no cell is named 'py27-tf3.0'"):
        runner.main(["py27-tf3.0"])


def test_without_names_the_tools_are_tested_first_then_the_core(fakes, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(
        runner.Run, "test_tools", lambda self: ran.append("tools") or runner.Result("tools", "passed")
    )
    monkeypatch.setattr(
        runner.Run,
        "test",
        lambda self, cell, ready: ran.append(cell.name) or runner.Result(cell.name, "passed"),
    )
    monkeypatch.setattr(runner.Run, "prepare", lambda self, cell: None)
    assert runner.main([]) == 0
    assert last_line(capsys) == "44 passed, 0 failed"
    assert ran[0] == "tools"
    assert runner.main(["--all"]) == 0
    assert last_line(capsys) == "123 passed, 0 failed"
