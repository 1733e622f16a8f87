# -*- coding: utf-8 -*-
"""Section 11 of docs/contract.md: how much of what is there `scan` finds, and how much that is not there.

tests/scan_corpus has three parts. `first` was written before the code of the scan, `second` after it and from what
public code looks like, before the scan had seen it; `later` holds what real packages, and the code when it was broken
on purpose, showed afterwards, and rules that came later. The scan was tuned on all of them by now: the figures before
that are in docs/scan.md.
"""
from __future__ import absolute_import, division, print_function

import pytest

import scan_trial
from tfgradcompat.tools import scan_facts, scan_rules

pytestmark = pytest.mark.once

# (precision, recall) that were reached.
REACHED = {"first": (1., 1.), "second": (1., 1.), "later": (14. / 15., 1.)}


@pytest.mark.clause("11.25")
@pytest.mark.parametrize("part", sorted(REACHED))
def test_precision_and_recall(part):
    precision, recall, wrong = scan_trial.trial(part)
    print("%s: precision %.3f, recall %.3f" % (part, precision, recall))
    assert precision >= REACHED[part][0] - 1e-9 and recall >= REACHED[part][1] - 1e-9, "\n".join(wrong)


@pytest.mark.clause("11.25")
def test_the_corpus_is_what_it_is_said_to_be():
    for part in ("first", "second"):
        snippets = scan_trial.snippets(part)
        harmless = [snippet for snippet in snippets if ": harmless: " in snippet.name]
        assert len(snippets) >= 58 and len(harmless) * 3 >= len(snippets), part
        assert not [snippet.name for snippet in snippets if bool(snippet.expected) == (snippet in harmless)]


@pytest.mark.clause("11.25")
def test_each_rule_has_two_snippets():
    counts = dict((rule.id, 0) for rule in scan_rules.RULES)
    for part in REACHED:
        for snippet in scan_trial.snippets(part):
            for rule in set(rule for _, rule in snippet.expected):
                counts[rule] += 1
    assert not [rule for rule, count in counts.items() if count < (1 if rule == "custom-gradient-forward" else 2)]


def test_the_trial_sees_false_alarms_and_misses(monkeypatch):
    monkeypatch.setattr(scan_facts, "CUSTOM_GRADIENT", frozenset())
    precision, recall, wrong = scan_trial.trial("first")
    assert precision == 1. and recall < .8
    monkeypatch.undo()
    monkeypatch.setattr(scan_facts, "PRINT", scan_facts.PRINT | set(["tensorflow.clip_by_value"]))
    precision, recall, wrong = scan_trial.trial("first")
    assert precision < 1. and recall == 1. and "false print-in-gradient" in " ".join(wrong)
