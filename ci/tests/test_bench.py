"""The benchmark without TensorFlow: which figures it takes, what it leaves out, and how it shows them."""
import argparse
import os
import sys

import pytest

CI = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(CI)  # where the programs of the benchmark find each other
    import bench
    return bench


@pytest.fixture
def table(bench):
    return sys.modules["bench_table"]


class FakeWorker:
    """Ours costs the same for each call, native in proportion to their number; Defun fails."""

    asked = []

    def __init__(self, eager):
        self.number = 0

    def ask(self, program, way, options):
        self.asked.append((way, options["count"]))
        self.number += 1
        if way == "Defun":
            return {"missing": "cannot"}
        seconds = 1e-3 * (options["count"] if way == "native" else 1)
        return {"cpu": seconds * (100. if self.number == 1 else 1.), "wall": seconds}

    def close(self):
        pass


@pytest.fixture
def measure(bench, monkeypatch):
    monkeypatch.setattr(bench, "Worker", FakeWorker)
    monkeypatch.setattr(FakeWorker, "asked", [])
    options = argparse.Namespace(ways=["ours", "native", "Defun"], repeats=3, seconds=60., limit=60.)
    measured = bench.Bench("own", options)
    return lambda count: measured.measure("build", {"variant": "plain", "count": count}, "cpu")


def test_a_figure_is_the_median(measure):
    assert measure(100)["ours"] == {"cpu": 1e-3, "wall": 1e-3, "repeats": 3}  # the first run of a worker takes 100 times as long


def test_ways_take_turns(measure):
    measure(100)
    assert FakeWorker.asked == [("ours", 100), ("native", 100), ("Defun", 100), ("native", 100), ("ours", 100), ("ours", 100),
                                ("native", 100)]


def test_what_would_take_too_long_is_left_out(measure):
    assert measure(10)["native"]["cpu"] == pytest.approx(0.01)
    assert measure(100)["native"]["cpu"] == pytest.approx(0.1)  # ten times as many calls, each ten times as dear
    assert measure(1000)["native"] == {"capped": pytest.approx(1000 * 0.1 * 10.)}
    assert measure(1000)["ours"]["cpu"] == pytest.approx(1e-3)


def test_a_table(measure, table):
    found = [measure(count) for count in (10, 100, 1000)]
    lines = [{"section": "build", "title": "build", "unit": "us", "clock": "cpu", "ways": ways, "options": {}} for ways in found]
    assert table.text(lines[0], ["ours", "native", "Defun"]).split() == [
        "build", "[us]", "1000.0", "10000.0", "-", "0.100", "of", "native"]
    assert table.text(lines[2], ["ours", "native"]).split()[2:] == ["1000.0", ">1000", "s"]
    assert [note.split("(")[0].strip() for note in table.notes({"lines": lines})][1:] == ["-  Defun: cannot"]


def results(measure):
    found = []
    for release in ("1.15.5", "1.8.0"):
        lines = [{"section": section, "title": title, "unit": "us", "clock": "cpu", "options": {"variant": "capturing", "count": count},
                  "ways": measure(count)} for section, title, count in (
                      ("eager", "eager call, no tape", 10), ("eager", "eager call and gradient", 10), ("build", "small", 10),
                      ("build", "large", 100))]
        found.append({"tensorflow": release, "lines": lines, "import": 0.0042})
    return found


def test_the_table_of_the_readme(measure, table, tmp_path):
    import json
    for i, found in enumerate(results(measure)):
        (tmp_path / str(i)).write_text(json.dumps(found))
    rows = list(table.markdown(table.read([str(tmp_path / "0"), str(tmp_path / "1")])))
    assert rows[0] == "| | 1.8.0 | 1.15.5 |"  # as numbers, 8 comes before 15
    assert "| `import`, no TensorFlow | 4.2 ms | 4.2 ms |" in rows
    assert "| large | 0.01 | 0.01 |" in rows


def test_the_picture(measure, tmp_path):
    from ci import bench_picture
    bench_picture.draw(results(measure), str(tmp_path / "bench.svg"))
    assert "custom_grad" in (tmp_path / "bench.svg").read_text()
