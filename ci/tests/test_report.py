"""The picture and the page of the results: each cell is what its last run says, and nothing is claimed that no test showed."""
import html.parser
import json
import xml.etree.ElementTree

import pytest

from ci import matrix, report

CONTRACT = {"1.1": "spellings", "1.2": "anything callable", "8.1": "graphs are freed", "8.7": "Keras models", "9.1": "cost"}
HOLDING = {"1.1": True, "1.2": True, "8.1": True, "9.1": True}  # no test of 8.7 ran
CELLS = len(matrix.read())


def counts(passed, failed=0, status=0):
    return {"passed": passed, "failed": failed, "errors": 0, "skipped": 2, "seconds": 3.5, "status": status, "patterns": {}}


RUN = {"commit": "f33e1ad", "date": "2026-11-30", "thorough": True, "pytest": ""}
FIRST = [
    {"name": "tools", "status": "passed"},
    dict(RUN, name="py27-tf1.8", status="passed", seconds=219.4, clauses=HOLDING, setups={"graph": counts(600), "eager": counts(400)}),
    dict(RUN, name="py36-tf1.8", status="failed", seconds=31.0, clauses=dict(HOLDING, **{"8.1": False, "8.7": False}),
         setups={"graph": counts(590, 10, 1)}),
    dict(RUN, name="py27-tf1.9", status="failed", seconds=7.0, clauses=HOLDING, setups={"graph": counts(9), "eager": counts(0, 0, -9)}),
    dict(RUN, name="py36-tf1.9", status="failed", seconds=600.2, note="more than 600 s", setups={}),
    dict(RUN, name="py313-tf2.22", status="not run", note="get it: <pyenv install 3.13>"),
    dict(RUN, name="py311-tf2.22", status="failed", seconds=2.0, clauses={"8.1": False}, setups={"eager": counts(0, 1, 1)}),
    {"name": "py312-tf2.22", "status": "passed", "seconds": 5.0, "setups": {"eager": counts(7)}},  # written before clauses were noted
]
SECOND = [
    {"name": "py36-tf1.8", "status": "not run", "note": "interrupted"},
    dict(RUN, name="py311-tf2.22", status="passed", seconds=1.0, clauses={"8.1": True},
         date="2026-12-02", pytest="-k x", setups={"eager": counts(1)}),
]


class Page(html.parser.HTMLParser):
    """The text of each element that has an id, the hovers, and what a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.hovers, self.fetched, self._row = {}, {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self._row = attrs.get("id", self._row)
        if "title" in attrs:
            self.hovers[attrs["title"].split()[0]] = attrs["title"].splitlines()[1:]
        self.fetched += [attrs[name] for name in ("src", "href") if not attrs.get(name, "#").startswith("#")]
        self.fetched += [tag] if tag in ("script", "link", "iframe") else []

    def handle_data(self, data):
        self.rows[self._row] = self.rows.get(self._row, []) + [data.strip()] * bool(data.strip())


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "contract", lambda: CONTRACT)
    for name, rows in (("first", FIRST), ("second", SECOND)):
        (tmp_path / name).write_text(json.dumps(rows))
    return [str(tmp_path / "first"), str(tmp_path / "second")]


@pytest.fixture
def page(files, tmp_path):
    path = tmp_path / "page.html"
    report.main(files + ["--html", str(path)])
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture
def picture(files, tmp_path):
    """The texts of the picture, and the style of each cell's box."""
    report.main(files + ["--svg", str(tmp_path / "a.svg")])
    root = xml.etree.ElementTree.parse(str(tmp_path / "a.svg")).getroot()
    tag = "{http://www.w3.org/2000/svg}"
    boxes = {group.get("id"): group.find(tag + "path").get("style") for group in root.iter(tag + "g") if "-tf" in group.get("id", "")}
    return [text.text for text in root.iter(tag + "text")], boxes


def test_a_row_for_each_cell(page):
    assert len([name for name in page.rows if name and "-tf" in name]) == CELLS
    assert page.rows["py27-tf1.8"] == [
        "py27-tf1.8", "1.8.0", "passed", "graph: 600 passed, 0 failed, 2 skipped, 4 s", "eager: 400 passed, 0 failed, 2 skipped, 4 s",
        "4: 1.1–8.1, 9.1", "–", "8.7", "2026-11-30 f33e1ad, --thorough"]
    assert page.rows["py36-tf1.8"][3:] == [
        "graph: 590 passed, 10 failed, 2 skipped, 4 s", "3: 1.1–1.2, 9.1", "8.1–8.7", "–", "2026-11-30 f33e1ad, --thorough"]
    assert page.rows["py27-tf1.4"] == ["py27-tf1.4", "1.4.1", "no result"]
    assert page.rows["py313-tf2.22"][2:4] == ["not run", "get it: <pyenv install 3.13>"]
    assert page.rows["py311-tf2.22"][2:4] == ["passed*", "eager: 1 passed, 0 failed, 2 skipped, 4 s"]
    assert page.rows["py311-tf2.22"][-1] == '2026-12-02 f33e1ad, --thorough, --pytest="-k x"'


def test_nothing_is_known_of_clauses_after_a_crash_or_where_they_were_not_recorded(page):
    unknown = ["not known"] * 3 + ["2026-11-30 f33e1ad, --thorough"]
    assert page.rows["py27-tf1.9"][4:] == ["eager: 0 passed, 0 failed, 2 skipped, 4 s, ended with status -9"] + unknown
    assert page.rows["py36-tf1.9"][2:] == ["failed", "more than 600 s"] + unknown
    assert page.rows["py312-tf2.22"][4:] == unknown[:3]


def test_hovering_shows_what_the_row_has(page):
    assert page.hovers["py27-tf1.8"] == [
        "graph: 600 passed, 0 failed, 2 skipped, 4 s", "eager: 400 passed, 0 failed, 2 skipped, 4 s", "clauses that hold: 1.1–8.1, 9.1",
        "that fail: –", "not tested here: 8.7"]


def test_the_releases_of_a_clause(page):
    rows = page.rows[None]
    at = rows.index("8.1")
    assert rows[at:at + 5] == ["8.1", "graphs are freed", "2.22", "1.8", "–"]
    assert rows[rows.index("8.7"):][2:5] == ["–", "1.8", "2.22"]
    assert rows[rows.index("9.1"):][2:5] == ["1.8", "–", "2.22"]


def test_the_page_asks_for_no_other_file(page):
    assert page.fetched == []


def test_the_picture(picture):
    texts, boxes = picture
    assert len(boxes) == CELLS
    cells = ["4 · 219 s", "✗ 3 · 31 s", "✗ 7 s", "✗ 600 s", "not run", "5 s*", "1 · 1 s*"]
    assert [texts.count(text) for text in cells] == [1] * len(cells)
    for text in ("3 passed", "✗ 3 failed", "1 not run", "%d no result" % (CELLS - 7), "TF 0.12", "Python 3.13"):
        assert text in texts
    assert "clauses that hold, of the contract's 5 · seconds of the tests · * perhaps not all tests were run" in texts
    assert "no box: TensorFlow has no wheel · run on 2026-11-30–2026-12-02" in texts
    assert boxes["py27-tf1.8"] == boxes["py311-tf2.22"] != boxes["py36-tf1.8"] == boxes["py27-tf1.9"]
    assert boxes["py313-tf2.22"] == boxes["py27-tf1.4"] not in (boxes["py27-tf1.8"], boxes["py36-tf1.8"])


def test_the_same_results_make_the_same_picture(picture, files, tmp_path):
    report.main(files + ["--svg", str(tmp_path / "b.svg")])
    assert (tmp_path / "b.svg").read_text() == (tmp_path / "a.svg").read_text()


def test_the_results_that_are_kept_make_the_same_picture(picture, files, tmp_path):
    kept = str(tmp_path / "kept.json")
    report.main(files + ["--json", kept])
    report.main([kept, "--svg", str(tmp_path / "b.svg")])
    assert (tmp_path / "b.svg").read_text() == (tmp_path / "a.svg").read_text()
    assert "/logs/" not in open(kept).read() and "patterns" not in open(kept).read()


def test_without_options_all_go_to_the_documentation(files, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "DOCS", str(tmp_path))
    report.main(files)
    assert (tmp_path / "compatibility.html").exists() and (tmp_path / "compatibility.svg").exists()
    assert (tmp_path / "compatibility.json").exists()


def test_the_clauses_are_those_of_the_contract():
    assert report.contract()["8.1"] == "a graph is freed with its last user"
    assert list(report.contract())[:2] == ["1.1", "1.2"]


def test_a_result_of_no_cell_is_an_error_that_names_it(tmp_path):
    (tmp_path / "r.json").write_text('[{"name": "py27-tf3.0", "status": "passed"}]')
    with pytest.raises(SystemExit, match="ci/report.py: no cell is named 'py27-tf3.0'"):
        report.main([str(tmp_path / "r.json"), "--svg", str(tmp_path / "a.svg")])
