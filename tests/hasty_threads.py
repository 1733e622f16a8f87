# -*- coding: utf-8 -*-
"""Threads for tests, between which the interpreter changes as often as it can."""
from __future__ import absolute_import, division, print_function

import contextlib
import sys
import threading

import tensorflow as tf

from harness import PY2, VERSION

ATTEMPTS = 1000


@contextlib.contextmanager
def hasty():
    get, change, smallest = (sys.getcheckinterval, sys.setcheckinterval, 1) if PY2 else (sys.getswitchinterval, sys.setswitchinterval, 1e-6)
    before = get()
    change(smallest)
    try:
        yield
    finally:
        change(before)


def in_threads(work, threads=8, calls=20):
    """`{(thread, call): work(thread, call)}`, with the calls of each thread one after the other. What a thread raises is raised."""
    results, errors = {}, []
    start = threading.Event()

    def run(thread):
        try:
            start.wait()
            for call in range(calls):
                results[thread, call] = work(thread, call)
        except BaseException as error:  # handed on below: a thread has nobody to raise it to
            errors.append(error)

    workers = [threading.Thread(target=run, args=(i,)) for i in range(threads)]
    with hasty():
        for worker in workers:
            worker.start()
        start.set()
        for worker in workers:
            worker.join()
    if errors:
        raise errors[0]
    return results


def built(graph, make):
    """`make()` in `graph`, which other threads are building too.

    In a scope of the thread's own name: before 1.8 there is one stack of scopes for all threads, on which theirs would nest ever
    deeper. Made again where TensorFlow refuses: two threads may draw the same name for an operation (seen without this package up
    to 2.6), and before 1.9 it fails in other ways too.
    """
    for attempt in range(ATTEMPTS):
        try:
            with graph.as_default(), tf.name_scope("thread%d/" % threading.current_thread().ident):
                return make()
        except ValueError as error:
            refused = "Duplicate node name" in str(error) or VERSION < (1, 9)
            if not refused or attempt + 1 == ATTEMPTS:
                raise
