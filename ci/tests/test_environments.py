"""Environments: made once, used again while nothing changed, deleted when too many."""
import os

import pytest

from ci import environments, matrix
from ci.interpreters import Interpreter

CELLS = matrix.read()[:6]
PYTHON = Interpreter("/usr/bin/python", "3.9.18")
SIZE = 1 << 20


class Builder:
    """Makes small environments and remembers which; fails as often as told."""

    def __init__(self, failures=0):
        self.made = []
        self.failures = failures

    def __call__(self, cell, interpreter, path, log):
        assert not os.path.exists(path)
        os.makedirs(path)
        if self.failures:
            self.failures -= 1
            raise environments.InstallFailed("download broke off")
        with open(os.path.join(path, "big"), "wb") as stream:
            stream.write(b"x" * SIZE)
        self.made.append(cell.name)


@pytest.fixture(autouse=True)
def small_reserve(monkeypatch):
    monkeypatch.setattr(environments, "RESERVE", SIZE)


@pytest.fixture
def log(tmp_path):
    with open(str(tmp_path / "log"), "w") as stream:
        yield stream


def store(tmp_path, builder, keep=100 * SIZE):
    return environments.Store(str(tmp_path / "cells"), keep, builder)


def kept(tmp_path):
    return set(os.listdir(str(tmp_path / "cells")))


def test_is_used_again_while_its_pins_are_the_same(tmp_path, log):
    builder = Builder()
    for _ in range(2):
        store(tmp_path, builder).prepare(CELLS[0], PYTHON, log).release()
    assert builder.made == [CELLS[0].name]


@pytest.mark.parametrize(
    "change",
    [
        {"tf_version": "0.12.9"},
        {"package": "tensorflow-cpu"},
        {"pins": ("numpy<1.16",)},
        {"python": "3.8"},  # and with it the pin of pytest
    ],
)
def test_is_made_anew_when_the_row_changed(tmp_path, log, change):
    builder = Builder()
    store(tmp_path, builder).prepare(CELLS[0], PYTHON, log).release()
    store(tmp_path, builder).prepare(CELLS[0]._replace(**change), PYTHON, log).release()
    assert len(builder.made) == 2


def test_is_made_anew_for_another_patch_of_python(tmp_path, log):
    builder = Builder()
    store(tmp_path, builder).prepare(CELLS[0], PYTHON, log).release()
    store(tmp_path, builder).prepare(CELLS[0], PYTHON._replace(version="3.9.19"), log).release()
    assert len(builder.made) == 2


def test_an_unfinished_one_is_made_anew(tmp_path, log):
    builder = Builder()
    os.makedirs(str(tmp_path / "cells" / CELLS[0].name / "bin"))
    store(tmp_path, builder).prepare(CELLS[0], PYTHON, log).release()
    assert builder.made == [CELLS[0].name]


def test_a_failed_install_is_tried_once_more(tmp_path, log):
    store(tmp_path, Builder(failures=1)).prepare(CELLS[0], PYTHON, log).release()
    with pytest.raises(environments.InstallFailed):
        store(tmp_path, Builder(failures=2)).prepare(CELLS[1], PYTHON, log)
    # The failure let go of the cell: this would wait for ever otherwise.
    store(tmp_path, Builder()).prepare(CELLS[1], PYTHON, log).release()


def test_least_recently_used_go_when_the_share_of_the_disk_is_full(tmp_path, log):
    builder = Builder()
    cells = store(tmp_path, builder, keep=3 * SIZE + SIZE // 2)
    for age, cell in enumerate(CELLS[:3]):
        cells.prepare(cell, PYTHON, log).release()
        marker = tmp_path / "cells" / cell.name / environments.MARKER
        os.utime(str(marker), (1000 + age, 1000 + age))
    cells.prepare(CELLS[0], PYTHON, log).release()  # used again: now the newest
    cells.prepare(CELLS[3], PYTHON, log).release()
    assert kept(tmp_path) == {CELLS[0].name, CELLS[2].name, CELLS[3].name}


def test_those_in_use_are_not_deleted(tmp_path, log):
    cells = store(tmp_path, Builder(), keep=0)
    used = [cells.prepare(cell, PYTHON, log) for cell in CELLS[:2]]
    cells.prepare(CELLS[2], PYTHON, log).release()
    assert kept(tmp_path) == {cell.name for cell in CELLS[:3]}
    for environment in used:
        environment.release()
    cells.prepare(CELLS[3], PYTHON, log).release()
    assert kept(tmp_path) == {CELLS[3].name}


def test_rubbish_of_a_killed_run_is_deleted(tmp_path, log):
    cells = store(tmp_path, Builder())
    os.makedirs(str(tmp_path / "cells" / "py27-tf9.9" / "bin"))
    cells.prepare(CELLS[0], PYTHON, log).release()
    assert kept(tmp_path) == {CELLS[0].name}
