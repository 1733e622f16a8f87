# -*- coding: utf-8 -*-
"""The digits model of the demo, trained by several processes: what test_6_distribute.py and ci/distributed.py ask for.

All servers listen at free ports and are known to each other by the address of the loopback device. They end when `train` does,
and when this process ends.
"""
from __future__ import absolute_import, division, print_function

import json
import os
import socket
import subprocess
import sys

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits_worker.py")

#: What each kind is, and its processes but that whose answer is the result.
KINDS = {
    "single": "one process",
    "mirrored": "tf.distribute.MirroredStrategy on two logical CPUs",
    "multiworker": "tf.distribute.MultiWorkerMirroredStrategy, two processes",
    "coordinator": "tf.distribute.ParameterServerStrategy: a parameter server, two workers, a coordinator",
    "servers": "tf.train.Server: a parameter server and two workers, the second going on where the first stops",
    "asynchronous": "tf.train.Server: a parameter server and two workers at the same time",
}


def train(kind, steps, folder=None, kill=False):
    """Trains for some steps.

    Args:
        kind: one of `KINDS`.
        steps: how many; the batches are those of the demo.
        folder: where checkpoints go ("servers" and "asynchronous").
        kill: "servers" only: whether the first worker is killed half-way and started again from its checkpoint.

    Returns:
        A dict: "losses", of each step; "accuracy" on the held-out images; "seconds" without starting and ending; with servers
        "steps", the numbers of the steps whose losses are known.
    """
    processes = []

    def start(task=None, cluster=None, wait_to_be_killed=False, **environment):
        command = [sys.executable, WORKER, kind, "--steps", str(steps)]
        command += ["--task", task, "--cluster", json.dumps(cluster)] if task or cluster else []
        command += ["--folder", folder] if folder else []
        command += ["--kill"] if wait_to_be_killed else []
        processes.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          env=dict(os.environ, **environment)))
        return processes[-1]
    try:
        if kind == "multiworker":
            return multiworker(start)
        if kind == "coordinator":
            return coordinator(start)
        if kind in ("servers", "asynchronous"):
            return servers(start, kill)
        return answer(start())
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()


def multiworker(start):
    cluster = {"worker": free_addresses(2)}
    config = lambda i: json.dumps({"cluster": cluster, "task": {"type": "worker", "index": i}})
    first, second = [start("worker:%d" % i, cluster, TF_CONFIG=config(i)) for i in range(2)]
    found = answer(first)
    assert answer(second)["losses"] == found["losses"]
    return found


def coordinator(start):
    addresses = free_addresses(3)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    for task in ("ps:0", "worker:0", "worker:1"):
        start(task, cluster)
    return answer(start("", cluster))


def servers(start, kill):
    addresses = free_addresses(3)
    cluster = {"ps": addresses[:1], "worker": addresses[1:]}
    start("ps:0", cluster)
    first = start("worker:0", cluster, wait_to_be_killed=kill)
    wait_for("ready", first)
    if kill:
        wait_for("half-way", first)
        first.kill()
        first.wait()
        first = start("worker:0", cluster)
        wait_for("ready", first)
    # A worker that finds nothing initialised looks again after 30 seconds only: so it starts now.
    found = [answer(worker) for worker in (first, start("worker:1", cluster))]
    losses = dict((int(step), loss) for part in found for step, loss in part["losses"].items())
    return {"losses": [losses[step] for step in sorted(losses)], "steps": sorted(losses),
            "accuracy": found[1]["accuracy"], "seconds": sum(part["seconds"] for part in found)}


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    addresses = ["127.0.0.1:%d" % s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return addresses


def answer(process):
    """What a process has printed as JSON, when it has ended."""
    lines = process.stdout.read().decode().splitlines()
    assert process.wait() == 0 and lines, "a process ends with status %d: %s" % (process.returncode, lines[-5:])
    return json.loads(lines[-1])


def wait_for(word, process):
    """Reads what a worker says until it says `word`."""
    for line in iter(process.stdout.readline, b""):
        if line.decode().strip() == word:
            return
    raise AssertionError("a worker ended with status %s before it said %s" % (process.wait(), word))
