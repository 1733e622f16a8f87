"""`ci/demo`: on the newest TensorFlow of this Python and on an old one; red when either is."""
import platform

import pytest

from ci import demo, matrix, runner

THIS = ".".join(platform.python_version_tuple()[:2])


def test_runs_on_the_newest_of_this_python_and_on_an_old_one(fakes):
    newest, old = demo.cells()
    assert newest == matrix.newest_for(matrix.read(), THIS)
    assert (old.python, old.tf_minor) == ("2.7", "1.8")


def test_without_a_python_2_only_on_the_newest(fakes, monkeypatch):
    monkeypatch.setattr(runner, "find_interpreter", lambda python: None)
    assert [cell.python for cell in demo.cells()] == [THIS]


@pytest.mark.parametrize(
    "program, status",
    [
        ("import sys; assert sys.argv[1:] == ['demo']", 0),
        ("import os; assert os.environ['CELL'] != 'py27-tf1.8'", 1),
        ("import os; assert os.environ['CELL'] == 'py27-tf1.8'", 1),
    ],
)
def test_exit_status_is_that_of_all_demos(fakes, capfd, program, status):
    (fakes / "fake" / "tfgradcompat.py").write_text(program + "\n")
    assert demo.main() == status
    assert capfd.readouterr().out.count("==== good") == 2 - status
