"""The pictures and the table of docs/examples.md, from numbers made by hand."""
import json
import os
import sys

import pytest

EXAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "examples")
IMAGE = [1.0, -0.5] * 32


def numbers(version, accuracy):
    """What all four examples write on one release."""
    maps = {"on ink": 0.5, "negative": 0.25, "like the image": 0.1, "like the second class": -0.1, "maps": [IMAGE] * 2}
    curves = {"target": [[0.1, accuracy], [0.2, 0.5]], "source": [[0.9, 0.9]] * 2, "domains": [[1.0, 0.5]] * 2}
    memory = [{"megabytes": 10.4}, {"megabytes": 20.0}]
    found = {
        "guided_backprop": {"accuracy": accuracy, "ink": 0.5, "images": [IMAGE] * 2, "plain": maps, "guided": maps},
        "domain_adaptation": {"steps": 20, "samples": {"source": [IMAGE] * 4, "target": [IMAGE] * 4},
                              "with reversal": curves, "without reversal": curves},
        "binarised_network": {"weights": [IMAGE] * 6, "accuracies": dict.fromkeys(
            ("not binarised", "straight-through", "true gradient"), [[0.1, accuracy]])},
        "recompute_memory": {"depths": [8, 16], "plain": memory, "recompute": memory},
    }
    return [dict(one, example=example, tensorflow=version) for example, one in found.items()]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Those of two releases, the newer one first."""
    monkeypatch.syspath_prepend(EXAMPLES)
    paths = []
    for one in numbers("2.10.1", 0.75) + numbers("2.9.3", 0.25):
        paths.append(tmp_path / ("%s-%s.json" % (one["example"], one["tensorflow"])))
        paths[-1].write_text(json.dumps(one))
    return [str(path) for path in paths]


def test_table_is_put_into_its_place(files, tmp_path):
    import table
    page = tmp_path / "page.md"
    page.write_text("before\n%s\nold\n%s\nafter\n" % (table.BEGIN, table.END))
    table.main(files + ["--write", str(page)])
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "before" and lines[-1] == "after" and "old" not in lines
    assert "| | TensorFlow 2.9 | TensorFlow 2.10 |" in lines
    assert "| accuracy on held-out digits | 25.0 % | 75.0 % |" in lines
    assert "| with reversal: accuracy on the target | 37.5 % (25–50) | 62.5 % (50–75) |" in lines
    assert "| 8 layers, plain against recompute | 10 MB, 10 MB | 10 MB, 10 MB |" in lines


def test_page_without_a_place_is_an_error(files, tmp_path):
    import table
    page = tmp_path / "page.md"
    page.write_text("before\n")
    with pytest.raises(SystemExit):
        table.main(files + ["--write", str(page)])
    assert page.read_text() == "before\n"


def test_pictures_name_both_releases(files, tmp_path):
    import draw
    draw.main(files + ["--output", str(tmp_path)])
    for example in sys.modules["table"].ORDER:
        text = (tmp_path / (example + ".svg")).read_text()
        assert "TensorFlow 2.9" in text and "TensorFlow 2.10" in text
