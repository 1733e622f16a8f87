"""The table of patterns in docs/migrating.md: it says what the results say, and nothing is lost on the way."""
import json
import os

import pytest

from ci import cell, patterns

RESULTS = [
    {"name": "tools", "setups": {}},
    {
        "name": "py27-tf1.4",
        "setups": {"graph": {"patterns": {"clip": {"graph": True}, "scale": {"graph": True}}}},
    },
    {
        "name": "py27-tf1.5",
        "setups": {
            "graph": {"patterns": {"clip": {"graph": True}, "scale": {"graph": True}}},
            "eager": {"patterns": {"clip": {"eager": True, "function": False}}},
        },
    },
    {"name": "py36-tf1.5", "setups": {"graph": {"patterns": {"scale": {"graph": False}}}}},
    {"name": "py27-tf1.7", "setups": {"graph": {"patterns": {"clip": {"graph": True}}}}},
]
LINES = """\
| pattern | graph | eager | function, tape outside | function, tape inside |
|---|---|---|---|---|
| clip | 1.4–1.5, 1.7 | 1.5 | –; **failed: 1.5** | – |
| scale | 1.4; **failed: 1.5** | – | – | – |"""


@pytest.fixture
def results(tmp_path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(RESULTS))
    return str(path)


def test_table(results, capsys):
    patterns.main([results])
    assert capsys.readouterr().out == LINES + "\n"


def test_written_in_the_place_of_the_last_one(results, tmp_path):
    page = tmp_path / "migrating.md"
    page.write_text("a\n%s\nold\n%s\nz\n" % (patterns.BEGIN, patterns.END), encoding="utf-8")
    for _ in range(2):
        patterns.main([results, "--write", str(page)])
        text = page.read_text(encoding="utf-8")
        assert text == "a\n%s\n%s\n%s\nz\n" % (patterns.BEGIN, LINES, patterns.END)


def test_no_place_for_it(results, tmp_path):
    (tmp_path / "migrating.md").write_text("nothing")
    with pytest.raises(SystemExit, match="no place"):
        patterns.main([results, "--write", str(tmp_path / "migrating.md")])


def test_the_page_has_each_pattern_that_is_tested():
    tests = os.path.join(cell.REPOSITORY, "tests", "test_10_patterns.py")
    with open(tests, encoding="utf-8") as stream:
        names = [line.split('"')[1] for line in stream if line.startswith("@pattern(")]
    with open(os.path.join(cell.REPOSITORY, "docs", "migrating.md"), encoding="utf-8") as stream:
        made = stream.read().partition(patterns.BEGIN)[2].partition(patterns.END)[0]
    rows = [line.split("|")[1].strip() for line in made.splitlines()[3:]]
    assert rows == sorted(names)
    assert "failed" not in made
