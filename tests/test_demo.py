"""The demo: its patterns, its training against numpy, and its command line."""
from __future__ import absolute_import, division, print_function

import os
import subprocess
import sys

import numpy as np
import pytest

import digits_oracle
from tfgradcompat import __main__
from tfgradcompat.tools import demo, digits, digits_losses, modes, patterns, training


def oracle_losses(**change):
    data = os.path.join(os.path.dirname(os.path.abspath(digits.__file__)), "digits.csv.gz")
    return digits_oracle.train(50, path=data, **change)[0]


def test_patterns_give_their_gradients_in_every_mode():
    wrong = [(mode, outcome) for mode in modes.available_modes()
             for outcome in [patterns.check(pattern, mode) for pattern in patterns.PATTERNS] if not outcome.ok]
    assert not wrong


def test_pattern_with_a_wrong_gradient_or_result_is_not_ok():
    mode = modes.available_modes()[0]
    scale = patterns.PATTERNS[0]
    assert patterns.check(scale, mode).ok
    assert not patterns.check(scale._replace(gradients=[[5., 4.]]), mode).ok
    assert not patterns.check(scale._replace(result=[1., 2.1]), mode).ok
    assert not patterns.check(scale._replace(function=modes.tf.stop_gradient), mode).ok


def test_wrong_gradient_gives_status_1_and_no_training(monkeypatch, capsys):
    scale = patterns.PATTERNS[0]._replace(gradients=[[5., 4.]])
    monkeypatch.setattr(patterns, "PATTERNS", [scale])
    assert __main__.main(["demo"]) == 1
    out = capsys.readouterr().out
    assert "WRONG: scale by 5 (%s)" % modes.available_modes()[0] in out and "epoch" not in out


def test_losses_equal_those_of_numpy_in_every_mode():
    expected = oracle_losses()
    for mode in modes.available_modes():
        np.testing.assert_allclose(training.train(50, mode), expected, rtol=0., atol=1e-6, err_msg=mode)


@pytest.mark.once
def test_the_numbers_in_the_package_come_from_the_oracle():
    np.testing.assert_allclose(digits_losses.LOSSES, oracle_losses(), rtol=0., atol=1e-11)


@pytest.mark.once
@pytest.mark.parametrize("change", [{"clip": 9.}, {"gate": 9.}])
def test_the_oracle_sees_a_missing_custom_gradient(change):
    difference = np.subtract(oracle_losses(**change), oracle_losses())
    assert np.max(np.abs(difference)) > 0.1


def test_losses_that_differ_and_a_low_accuracy_are_reported(capsys):
    losses = np.array(digits_losses.LOSSES)
    assert not demo.check_losses(losses)
    losses[30] += 2e-6
    assert demo.check_losses(losses)
    losses[30] = np.nan
    assert demo.check_losses(losses)
    assert demo.check_accuracy(0.89, 10) and not demo.check_accuracy(0.91, 10)
    assert "at least 0.90" in capsys.readouterr().out


def run(*arguments):
    process = subprocess.Popen([sys.executable] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               universal_newlines=True)
    out, err = process.communicate()
    return process.returncode, out, err


@pytest.mark.once
def test_command_line():
    status, out, err = run("-m", "tfgradcompat", "demo", "--epochs", "1")
    assert status == 0, out + err
    assert "all right" in out and "WRONG" not in out
    assert "largest difference from numpy in the first 30 losses" in out


@pytest.mark.once
def test_without_tensorflow_it_says_so():
    status, out, err = run("-c", "import sys; sys.modules['tensorflow'] = None; from tfgradcompat import __main__; "
                                 "sys.exit(__main__.main(['demo']))")
    assert status == 2 and not out
    assert "pip install tensorflow" in err and "Traceback" not in err


@pytest.mark.once
def test_command_line_imports_no_tensorflow_before_it_runs():
    status, _, err = run("-c", "import sys; from tfgradcompat import __main__; assert 'tensorflow' not in sys.modules")
    assert status == 0, err


@pytest.mark.once
@pytest.mark.parametrize("arguments", [(), ("no-such-command",), ("demo", "--epochs", "0")])
def test_command_line_refuses_what_it_does_not_know(arguments):
    status, _, err = run("-m", "tfgradcompat", *arguments)
    assert status == 2 and "usage: python -m tfgradcompat" in err
