# -*- coding: utf-8 -*-
"""One process of those that train the digits model of the demo together: see digits_cluster.py, which starts it.

    python digits_worker.py KIND --steps N [--task JOB:INDEX --cluster JSON] [--folder DIR] [--kill]

Prints what came of it as one line of JSON. Servers end when their standard input does.
"""
from __future__ import absolute_import, division, print_function

import argparse
import json
import os
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import numpy as np
import tensorflow as tf

from tfgradcompat.tools import digits, training

v1 = getattr(getattr(tf, "compat", None), "v1", None) or tf
BATCH = digits.BATCH
IMAGES, LABELS, TEST_IMAGES, TEST_LABELS = digits.load()


def loss_of(images, labels, weights):
    """Of a part of a batch: the losses of all parts add up to that of the batch."""
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=training.network(images, *weights))
    return tf.reduce_sum(losses) / BATCH


def batches(steps):
    """`(images, labels)` of each step."""
    return [(IMAGES[batch], LABELS[batch]) for _, batch in digits.batches(steps)]


def accuracy(weights):
    """On the held-out images, of the weights as numpy arrays."""
    w1, b1, w2, b2 = weights
    sign = lambda w: np.where(w >= 0., 1., -1.)
    hidden = np.tanh(TEST_IMAGES.dot(sign(w1)) * training.GAIN + b1)
    logits = hidden.dot(sign(w2)) * training.GAIN + b2
    return float(np.mean(np.argmax(logits, 1) == TEST_LABELS))


def result(losses, weights, started):
    return {"losses": losses, "accuracy": accuracy(weights), "seconds": time.time() - started}


def serve_until_the_parent_ends():
    sys.stdin.read()
    os._exit(0)


# ---------------------------------------------------------------------------------------------------------- one process
def single(options):
    started = time.time()
    with tf.Graph().as_default():
        graph = TrainingGraph(None)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            losses = [graph.step(session, images, labels) for images, labels in batches(options.steps)]
            weights = session.run(graph.weights)
    return result(losses, weights, started)


class TrainingGraph(object):
    """A step of gradient descent, as it is written in TensorFlow 1."""

    def __init__(self, global_step):
        self.images = v1.placeholder(tf.float64, [None, 64])
        self.labels = v1.placeholder(tf.int64, [None])
        self.weights = [v1.Variable(value, name="weights_%d" % i) for i, value in enumerate(digits.starting_weights())]
        self.loss = loss_of(self.images, self.labels, self.weights)
        optimizer = v1.train.GradientDescentOptimizer(training.RATE)
        gradients = v1.gradients(self.loss, self.weights)
        with tf.control_dependencies([self.loss] + gradients):
            self.train = optimizer.apply_gradients(zip(gradients, self.weights), global_step=global_step)

    def step(self, session, images, labels):
        return float(session.run([self.loss, self.train], {self.images: images, self.labels: labels})[0])


# ----------------------------------------------------------------------------------------- tf.distribute, synchronous
class Replicated(object):
    """A step of a strategy whose replicas get the parts of a batch."""

    def __init__(self, strategy):
        self.strategy = strategy
        with strategy.scope():  # all replicas assign the same
            self.weights = [tf.Variable(value, name="weights_%d" % i, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)
                            for i, value in enumerate(digits.starting_weights())]

    def replica(self, images, labels, mine, parts):
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        part = tf.gather(mine, replica % len(mine))
        images, labels = tf.split(images, parts), tf.split(labels, parts)
        images, labels = tf.stack(images)[part], tf.stack(labels)[part]
        with tf.GradientTape() as tape:
            loss = loss_of(images, labels, self.weights)
        gradients = tape.gradient(loss, self.weights)
        reduced = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, gradients)
        for weight, gradient in zip(self.weights, reduced):
            weight.assign_sub(training.RATE * gradient)
        return loss

    def train(self, options, parts, mine):
        """The losses of all steps; of the `parts` of a batch this process has those numbered `mine`."""
        @tf.function
        def step(images, labels):
            run = getattr(self.strategy, "run", None) or self.strategy.experimental_run_v2  # renamed in 2.2
            losses = run(lambda: self.replica(images, labels, mine, parts))
            return self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
        started = time.time()
        losses = [float(step(tf.constant(images), tf.constant(labels))) for images, labels in batches(options.steps)]
        return result(losses, [w.numpy() for w in self.weights], started)


def mirrored(options):
    config = tf.config if hasattr(tf.config, "LogicalDeviceConfiguration") else tf.config.experimental  # up to 2.3
    [cpu] = tf.config.experimental.list_physical_devices("CPU")
    if config is tf.config:
        config.set_logical_device_configuration(cpu, [config.LogicalDeviceConfiguration()] * 2)
    else:
        config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * 2)
    return Replicated(tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])).train(options, 2, [0, 1])


def multiworker(options):
    mine = int(options.task.split(":")[1])
    return Replicated(tf.distribute.MultiWorkerMirroredStrategy()).train(options, 2, [mine])


# ----------------------------------------------------------------------------------------- tf.distribute, coordinated
def coordinator(options):
    if options.task:
        job, index = options.task.split(":")
        tf.distribute.Server(tf.train.ClusterSpec(options.cluster), job_name=job, task_index=int(index), protocol="grpc")
        serve_until_the_parent_ends()
    return coordinate(options, options.cluster)


def coordinate(options, cluster):
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec(cluster), rpc_layer="grpc")
    cls = getattr(tf.distribute, "ParameterServerStrategy", None) or tf.distribute.experimental.ParameterServerStrategy
    strategy = cls(resolver)
    module = getattr(tf.distribute, "coordinator", None) or tf.distribute.experimental.coordinator
    queue = module.ClusterCoordinator(strategy)
    with strategy.scope():
        weights = [tf.Variable(value) for value in digits.starting_weights()]

    @tf.function
    def step(images, labels):
        def replica(images, labels):
            with tf.GradientTape() as tape:
                loss = loss_of(images, labels, weights)
            for weight, gradient in zip(weights, tape.gradient(loss, weights)):
                weight.assign_sub(training.RATE * gradient)
            return loss
        return strategy.run(replica, (images, labels))
    started, losses = time.time(), []
    for images, labels in batches(options.steps):
        loss = queue.schedule(step, (tf.constant(images), tf.constant(labels)))
        queue.join()  # one after the other, so that the losses are those of one process
        losses.append(float(loss.fetch()))
    return result(losses, [w.numpy() for w in weights], started)


# ------------------------------------------------------------------------------------------------------ tf.train.Server
def say(word):
    print(word)
    sys.stdout.flush()


def servers(options):
    job, index = options.task.split(":")
    index = int(index)
    # Without the filters a session waits for all workers, also for one that has yet to start.
    config = v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=2,
                            device_filters=["/job:ps", "/job:worker/task:%d" % index])
    server = tf.train.Server(tf.train.ClusterSpec(options.cluster), job_name=job, task_index=index,
                             config=config if job == "worker" else None)
    if job == "ps":
        serve_until_the_parent_ends()
    with tf.Graph().as_default():
        with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index,
                                                      cluster=tf.train.ClusterSpec(options.cluster))):
            module = tf.train if hasattr(tf.train, "get_or_create_global_step") else tf.contrib.framework
            global_step = module.get_or_create_global_step()
            graph = TrainingGraph(global_step)
        folder = options.folder if index == 0 else None
        checkpoints = {} if not folder else {"checkpoint_dir": os.path.join(folder, "checkpoints"), "save_checkpoint_secs": 1}
        with tf.train.MonitoredTrainingSession(master=server.target, is_chief=index == 0, config=config, **checkpoints) as session:
            return work(options, index, session, graph, global_step)


def work(options, index, session, graph, global_step):
    """The steps of one worker, `{step: loss}`."""
    all_batches, losses, started = batches(options.steps), {}, time.time()
    at = lambda: int(session.run(global_step))
    say("ready")
    if options.kind == "asynchronous":
        for step in range(index, options.steps, 2):
            losses[step] = graph.step(session, *all_batches[step])
    else:
        half = options.steps // 2
        first, last = (0, half) if index == 0 else (half, options.steps)
        while at() < first:  # the other one's turn
            time.sleep(0.02)
        started = time.time()
        while at() < last:
            step = at()
            losses[step] = graph.step(session, *all_batches[step])
            if options.kill and step == half // 2:
                time.sleep(1.5)  # the next step makes a checkpoint
            elif options.kill and step == half // 2 + 1:
                say("half-way")
                time.sleep(60)  # this process will be killed
    seconds = time.time() - started
    while at() < options.steps:  # a chief that ends before the others would leave them alone
        time.sleep(0.02)
    return {"losses": losses, "accuracy": accuracy(session.run(graph.weights)), "seconds": seconds}


KINDS = {"single": single, "mirrored": mirrored, "multiworker": multiworker, "coordinator": coordinator, "servers": servers,
         "asynchronous": servers}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--folder", help="for checkpoints")
    parser.add_argument("--kill", action="store_true", help="wait to be killed half-way")
    parser.add_argument("--task")
    parser.add_argument("--cluster", type=json.loads)
    options = parser.parse_args()
    say(json.dumps(KINDS[options.kind](options)))
    # Some releases wait for threads of servers and coordinators that never end.
    os._exit(0)


if __name__ == "__main__":
    main()
