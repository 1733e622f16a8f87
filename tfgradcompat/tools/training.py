"""A classifier with binary weights and a gradient clipped between its layers, trained by hand-written SGD.

    hidden = tanh(images . sign(w1) / 4 + b1);   logits = sign(w2)-product of hidden / 4, plus b2

sign has a zero gradient, so it gets the straight-through one, gated by |w| <= 1 (Courbariaux et al. 2016,
https://arxiv.org/abs/1602.02830). All is float64, so that every release prints the same losses.
"""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

from .. import custom_grad
from . import digits, modes

GAIN = 0.25
CLIP = 0.005
RATE = 6.0
RATE_DECAY = 0.8  # per epoch


@custom_grad
def binarise(w):
    def in_grad(dy):
        return dy * tf.cast(tf.abs(w) <= 1., dy.dtype)
    return 2. * tf.cast(w >= 0., w.dtype) - 1., in_grad  # not tf.sign, which is 0 at 0


@custom_grad
def clip_gradient(x):
    def in_grad(dy):
        return tf.clip_by_value(dy, -CLIP, CLIP)
    return tf.identity(x), in_grad


def network(images, w1, b1, w2, b2):
    """Logits of shape [n, 10] for images of shape [n, 64]."""
    hidden = tf.tanh(tf.matmul(images, binarise(w1)) * GAIN + b1)
    return tf.matmul(clip_gradient(hidden), binarise(w2)) * GAIN + b2


def mean_loss(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


class GraphTrainer(object):
    """Trains in a graph with a session."""

    def __init__(self):
        with tf.Graph().as_default():
            self.images = modes.tf1.placeholder(tf.float64, [None, 64])
            self.labels = modes.tf1.placeholder(tf.int64, [None])
            self.rate = modes.tf1.placeholder(tf.float64, [])
            weights = [modes.new_variable(value, "weights") for value in digits.starting_weights()]
            self.logits = network(self.images, *weights)
            self.loss = mean_loss(self.logits, self.labels)
            gradients = modes.tf1.gradients(self.loss, weights)
            with tf.control_dependencies([self.loss] + gradients):  # no weight changes before all were read
                self.updates = [weight.assign_sub(self.rate * gradient)
                                for weight, gradient in zip(weights, gradients)]
            self.session = modes.new_session()

    def step(self, images, labels, rate):
        """Makes one step and returns the loss before it."""
        feed = {self.images: images, self.labels: labels, self.rate: rate}
        return float(self.session.run([self.loss, self.updates], feed)[0])

    def accuracy(self, images, labels):
        return float(np.mean(np.argmax(self.session.run(self.logits, {self.images: images}), 1) == labels))


class TapeTrainer(object):
    """Trains eagerly with a tape, or, with `compiled`, does the same inside tf.function."""

    def __init__(self, compiled=False):
        self.weights = [modes.new_variable(value, "weights_%d" % i)
                        for i, value in enumerate(digits.starting_weights())]
        self.compute = tf.function(self._compute) if compiled else self._compute

    def _compute(self, images, labels, rate):
        with modes.new_tape() as tape:
            loss = mean_loss(network(images, *self.weights), labels)
        gradients = tape.gradient(loss, self.weights)
        for weight, gradient in zip(self.weights, gradients):
            weight.assign_sub(rate * gradient)
        return loss

    def step(self, images, labels, rate):
        """Makes one step and returns the loss before it."""
        return float(self.compute(tf.constant(images), tf.constant(labels), tf.constant(rate, tf.float64)).numpy())

    def accuracy(self, images, labels):
        return float(np.mean(np.argmax(network(tf.constant(images), *self.weights).numpy(), 1) == labels))


def new_trainer(mode):
    """A trainer at the fixed starting weights, for one of `modes.available_modes()`."""
    return GraphTrainer() if mode == "graph" else TapeTrainer(compiled=mode == "function")


def train(steps=50, mode=None, after_step=None):
    """Trains for some steps and returns the loss of each.

    Args:
      steps: how many; an epoch has `digits.STEPS_PER_EPOCH`.
      mode: one of `modes.available_modes()`; None for the natural one.
      after_step: called with (trainer, losses so far) after each step.

    Returns:
      A list of floats.
    """
    images, labels, _, _ = digits.load()
    trainer = new_trainer(mode or modes.available_modes()[0])
    losses = []
    for epoch, batch in digits.batches(steps):
        losses.append(trainer.step(images[batch], labels[batch], RATE * RATE_DECAY ** epoch))
        if after_step is not None:
            after_step(trainer, losses)
    return losses
