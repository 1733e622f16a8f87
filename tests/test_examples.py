# -*- coding: utf-8 -*-
"""The programs in examples/, at a small size: each shows what docs/examples.md says of it; and the figures there."""
from __future__ import absolute_import, division, print_function

import glob
import importlib
import io
import json
import os
import re
import sys

import numpy as np
import pytest
import tensorflow as tf

import harness

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.path.join(REPOSITORY, "examples")
PAGE = os.path.join(REPOSITORY, "docs", "examples.md")

pytestmark = [
    pytest.mark.once,  # they run as their release begins: in graphs or in tf.function
    pytest.mark.skipif(harness.SETUP == "eager" and harness.VERSION < (2, 0),
                       reason="TensorFlow 1.5-1.15 with eager mode on: the examples make graphs there (6.1)")]


@pytest.fixture
def example(monkeypatch):
    """Imports one of the programs, as if it had been started."""
    monkeypatch.syspath_prepend(EXAMPLES)
    return importlib.import_module


def numbers_of(program, tmpdir, *arguments):
    """What it writes to its file."""
    path = tmpdir.join("numbers.json")
    program.main(["--json", str(path)] + list(arguments))
    numbers = json.loads(path.read())
    assert numbers["tensorflow"] == tf.__version__ and program.__name__ == numbers["example"]
    return numbers


# ------------------------------------------------------------------------------------------------------------ guided_backprop
def test_guided_saliency_of_a_network_made_by_hand(example):
    program, common = example("guided_backprop"), example("common")
    first = np.array([[1., 0., 0.], [0., 2., 0.], [0., 1., 3.]], np.float32)
    second = np.array([[4., 0.], [-5., 0.], [1., 3.]], np.float32)

    def logits(x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, first)), second)
    # The best logit is the first: 4 * 5 - 5 * 2 + 3 against 9, then 4 * 5 + 3 against 9, for the second rectifier is closed.
    images = np.array([[5., 0.5, 1.], [5., -1., 1.]], np.float32)
    with common.new_world():
        plain, guided = [common.compiled(lambda images: saliency(logits, images))(images)
                         for saliency in (program.plain_saliency, program.guided_saliency)]
    np.testing.assert_allclose(plain, [[4., -10., -5. + 3.], [4., 0., 3.]])
    np.testing.assert_allclose(guided, [[4., 0., 3.], [4., 0., 3.]])  # nothing comes through the second, which speaks against


def test_guided_gradients_are_on_the_ink(example, tmpdir):
    numbers = numbers_of(example("guided_backprop"), tmpdir, "--epochs", "2")
    plain, guided = numbers["plain"], numbers["guided"]
    assert numbers["accuracy"] > 0.85
    assert guided["on ink"] > plain["on ink"] + 0.05 > numbers["ink"] + 0.05
    assert guided["negative"] < plain["negative"] - 0.1
    assert guided["like the image"] > plain["like the image"] + 0.1
    assert guided["like the second class"] > plain["like the second class"] + 0.1
    assert np.shape(numbers["images"]) == np.shape(plain["maps"]) == np.shape(guided["maps"]) == (10, 64)


# ---------------------------------------------------------------------------------------------------------- domain_adaptation
def test_reversal_helps_on_the_target(example, tmpdir):
    numbers = numbers_of(example("domain_adaptation"), tmpdir, "--steps", "1500", "--seeds", "10")
    ends = dict((way, dict((name, np.mean([curve[-1] for curve in curves])) for name, curves in numbers[way].items()))
                for way in ("with reversal", "without reversal"))
    assert ends["with reversal"]["target"] > ends["without reversal"]["target"] + 0.2
    assert ends["with reversal"]["domains"] < ends["without reversal"]["domains"] - 0.15
    assert min(end["source"] for end in ends.values()) > 0.9


# ---------------------------------------------------------------------------------------------------------- binarised_network
def test_only_the_straight_through_gradient_trains_a_binarised_network(example, tmpdir):
    numbers = numbers_of(example("binarised_network"), tmpdir, "--epochs", "8", "--seeds", "0")
    for straight, true in zip(numbers["accuracies"]["straight-through"], numbers["accuracies"]["true gradient"]):
        assert straight[0] == true[0] < 0.25 and straight[-1] > 0.85
        assert true == true[:1] * 9
    assert numbers["values of weights"] == [-1., 1.]


# ----------------------------------------------------------------------------------------------------------- recompute_memory
def test_recompute_needs_less_memory_the_deeper_the_more(example, tmpdir):
    numbers = numbers_of(example("recompute_memory"), tmpdir, "--depths", "8", "32")
    (shallow, deep), (ours_shallow, ours_deep) = numbers["plain"], numbers["recompute"]
    assert ours_deep["megabytes"] < 0.8 * deep["megabytes"]
    assert deep["megabytes"] - ours_deep["megabytes"] > shallow["megabytes"] - ours_shallow["megabytes"] + 40.
    for plain, ours in ((shallow, ours_shallow), (deep, ours_deep)):
        np.testing.assert_allclose([ours["loss"], ours["norm"]], [plain["loss"], plain["norm"]], rtol=1e-5)


# ---------------------------------------------------------------------------------------------------------- docs/examples.md
@pytest.fixture
def page():
    with io.open(PAGE, encoding="utf-8") as stream:
        return stream.read()


def figures(page, row):
    """The first number of each column."""
    [line] = [line for line in page.splitlines() if line.startswith(u"| %s |" % row)]
    return [float(cell.split()[0]) for cell in line.split(u"|")[2:-1]]


def test_pictures_are_there_and_small(page):
    pictures = re.findall(r"!\[.+\]\((pictures/.+)\)", page)
    folder = os.path.dirname(PAGE)
    assert len(pictures) == 4
    assert sorted(pictures) == sorted("pictures/" + name for name in os.listdir(os.path.join(folder, "pictures")))
    assert all(1000 < os.path.getsize(os.path.join(folder, name)) < 150000 for name in pictures)


def test_each_program_is_on_the_page(page):
    programs = set(os.path.basename(path) for path in glob.glob(os.path.join(EXAMPLES, "*.py")))
    assert programs == set(re.findall(r"examples/(\w+\.py)", page))


def test_the_figures_say_what_the_page_says(page):
    def are_above(row, other, by):
        assert all(a > b + by for a, b in zip(figures(page, row), figures(page, other)))
    assert len(figures(page, "accuracy on held-out digits")) == 4
    are_above("guided: part of the gradient on ink", "plain: part of the gradient on ink", 10.)
    are_above("plain: part of it that is negative", "guided: part of it that is negative", 20.)
    are_above("guided: correlation with the image", "plain: correlation with the image", 0.3)
    are_above("guided: correlation with the second best class", "plain: correlation with the second best class", 0.5)
    are_above("with reversal: accuracy on the target", "without reversal: accuracy on the target", 30.)
    assert all(35. < value < 65. for value in figures(page, "with reversal: domains told apart"))  # it can only guess
    are_above("straight-through: accuracy", "true gradient: accuracy", 80.)
    assert all(abs(a - b) < 1. for a, b in zip(figures(page, "not binarised: accuracy"), figures(page, "straight-through: accuracy")))
    gaps = [[plain - ours for plain, ours in megabytes(page, depth)] for depth in (8, 16, 32, 64)]
    assert all(0. < shallow < deep for a, b in zip(gaps, gaps[1:]) for shallow, deep in zip(a, b))


def megabytes(page, depth):
    return [tuple(map(float, pair)) for line in page.splitlines() if line.startswith("| %d layers" % depth)
            for pair in re.findall(r"(\d+) MB, (\d+) MB", line)]
