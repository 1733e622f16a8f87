# -*- coding: utf-8 -*-
"""Clause 6.1 of docs/contract.md: the digits model, trained by several real processes, has the losses of one.

The expected losses are those of a numpy program in float64 (digits_oracle.py), as in the demo.
"""
from __future__ import absolute_import, division, print_function

import numpy as np
import pytest

import digits_cluster
from harness import VERSION
from tfgradcompat.tools import digits_losses

STEPS = 12

pytestmark = [pytest.mark.clause("6.1"), pytest.mark.once]
replicas = pytest.mark.skipif(VERSION < (2, 0), reason="TensorFlow 0.12-1.15 has no MirroredStrategy or another interface (6.1)")
strategies = pytest.mark.skipif(VERSION < (2, 4), reason="TensorFlow 0.12-2.3 lacks these strategies or has them as experiments (6.1)")
clusters = pytest.mark.skipif(VERSION >= (2, 0), reason="TensorFlow 2 has strategies in the place of sessions on servers (6.1)")


@replicas
def test_two_replicas():
    found = digits_cluster.train("mirrored", STEPS)
    np.testing.assert_allclose(found["losses"], digits_losses.LOSSES[:STEPS], rtol=0., atol=1e-5)


@strategies
@pytest.mark.parametrize("kind", ["multiworker", "coordinator"])
def test_strategies(kind):
    found = digits_cluster.train(kind, STEPS)
    np.testing.assert_allclose(found["losses"], digits_losses.LOSSES[:STEPS], rtol=0., atol=1e-5)


@clusters
def test_two_workers_and_a_parameter_server(tmpdir):
    found = digits_cluster.train("servers", STEPS)
    np.testing.assert_allclose(found["losses"], digits_losses.LOSSES[:STEPS], rtol=0., atol=1e-5)


@clusters
def test_a_worker_that_is_killed_goes_on_from_its_checkpoint(tmpdir):
    found = digits_cluster.train("servers", STEPS, folder=str(tmpdir), kill=True)
    assert 0 < found["steps"][0] < STEPS // 2 and found["steps"] == list(range(found["steps"][0], STEPS))
    np.testing.assert_allclose(found["losses"], digits_losses.LOSSES[found["steps"][0]:STEPS], rtol=0., atol=1e-5)
