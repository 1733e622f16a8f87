"""What the scan knows of TensorFlow's names, private parts and operation types, and of the releases that have them.

`tests/test_11_scan_facts.py` compares it with each TensorFlow of the matrix.
"""
from __future__ import absolute_import, division, print_function

import re

#: Operation types of TensorFlow with a gradient that is registered from this release on.
OWN_GRADIENTS = dict((op_type, release) for release, op_types in {
    "1.0": "Ceil Expm1 FloorDiv Round",
    "1.1": "IRFFT IRFFT2D RFFT RFFT2D UnsortedSegmentMax",
    "1.2": "Atan2 AvgPool3DGrad AvgPoolGrad Betainc MaxPool3DGrad MaxPoolGrad MaxPoolGradGrad MaxPoolWithArgmax "
           "SoftplusGrad",
    "1.3": "Acosh Asinh Atanh Cosh PadV2 Sinh",
    "1.4": "Angle FloorMod FusedBatchNormGrad ResizeBicubic SeluGrad",
    "1.5": "Qr Relu6Grad Svd",
    "1.6": "Roll",
    "1.7": "ArgMax UnsortedSegmentMin UnsortedSegmentProd",
    "1.10": "BesselI0e BesselI1e EagerPyFunc LogMatrixDeterminant",
    "1.11": "DivNoNan",
    "1.13": "LeakyReluGrad MatrixSquareRoot TensorScatterAdd TensorScatterSub TensorScatterUpdate",
    "1.14": "DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput ExtractVolumePatches",
    "1.15": "CumulativeLogsumexp",
    "2.1": "Erfinv Ndtri",
    "2.3": "CTCLossV2 Eig ImageProjectiveTransformV2",
    "2.6": "SegmentProd TensorScatterMax TensorScatterMin",
    "2.11": "RandomShuffle",
    "2.13": "ClipByValue",
    "2.20": "ResizeBilinearGrad",
    "2.22": "SoftsignGrad",
}.items() for op_type in op_types.split())

#: Operation types that only some releases make: (types, further types, how). A map that has one of the types is for
#: every release only if it has all of them, and the further ones.
RENAMED_TYPES = [
    (("Add", "AddV2"), (), "`+` makes AddV2 from 1.15 on, tf.add from 2.6 on at the latest"),
    (("Select", "SelectV2"), (), "tf.where makes SelectV2 from 2.0 on"),
    (("Gather", "GatherV2"), (), "tf.gather makes GatherV2 from 1.8 on"),
    (("BatchMatMul", "BatchMatMulV2"), (), "tf.matmul makes BatchMatMulV2 from 1.14 on"),
    (("FusedBatchNorm", "FusedBatchNormV3"), (),
     "tf.nn.fused_batch_norm makes FusedBatchNormV3 from 1.15 on"),
    (("Concat", "ConcatV2"), (), "tf.concat makes ConcatV2 from 1.0 on"),
    (("LeakyRelu",), ("Maximum",),
     "tf.nn.leaky_relu makes Mul and Maximum before 1.13, LeakyRelu from then on"),
    (("ClipByValue",), ("Maximum", "Minimum"),
     "tf.clip_by_value makes ClipByValue on 1.8 only, else Minimum and Maximum"),
]

PY_FUNC_TYPES = frozenset(["PyFunc", "PyFuncStateless", "EagerPyFunc"])

CUSTOM_GRADIENT = frozenset(["tensorflow.custom_gradient", "tensorflow.contrib.eager.custom_gradient"])
PY_FUNC = frozenset(["tensorflow.py_func", "tensorflow.numpy_function", "tensorflow.py_function"])
REGISTRY = frozenset([
    "tensorflow.python.framework.ops." + name for name in ("_gradient_registry", "gradient_registry")])
PRINT = frozenset(["tensorflow.Print", "tensorflow.print"])
MAKES_VARIABLE = frozenset(["tensorflow.Variable", "tensorflow.get_variable", "tensorflow.contrib.eager.Variable",
                            "tensorflow.keras.backend.variable", "tensorflow.contrib.framework.model_variable"])
LAYER_WITH_VARIABLES = re.compile(
    r"^tensorflow\.(layers|keras\.layers|contrib\.layers|contrib\.slim)\."
    r"(dense|fully_connected|conv\w*|separable_conv\w*|batch_norm\w*|layer_norm|"
    r"Dense|Conv\w*|BatchNormalization|LayerNormalization|Embedding|LSTM\w*|GRU\w*)$")

#: Used under these names, whether called or not: {canonical name: rule}.
REFERENCES = dict(("tensorflow." + name, rule) for rule, names in {
    "contrib-eager": ["contrib.eager." + name for name in (
        "GradientTape", "custom_gradient", "defun", "function", "gradients_function", "implicit_gradients",
        "implicit_value_and_gradients", "make_vjp", "py_func", "value_and_gradients_function")],
    "contrib-gradient": [
        "contrib.training.add_gradients_summaries", "contrib.training.clip_gradient_norms",
        "contrib.training.multiply_gradients", "contrib.slim.learning.add_gradients_summaries",
        "contrib.slim.learning.clip_gradient_norms", "contrib.slim.learning.multiply_gradients",
        "contrib.estimator.clip_gradients_by_norm", "contrib.layers.rev_block"],
    "recompute-grad": [
        "recompute_grad", "contrib.layers.recompute_grad",
        "contrib.layers.python.layers.rev_block_lib.recompute_grad"],
    "test-compute-gradient": [
        "test.compute_gradient", "test.compute_gradient_error", "python.ops.gradient_checker.compute_gradient",
        "python.ops.gradient_checker.compute_gradient_error", "python.ops.gradient_checker_v2.compute_gradient"],
}.items() for name in names)

#: Functions that change gradients when they are called with one of these keywords.
CONTRIB_KEYWORDS = {
    "tensorflow.contrib.layers.optimize_loss": ("clip_gradients", "gradient_multipliers", "gradient_noise_scale"),
    "tensorflow.contrib.training.create_train_op": ("transform_grads_fn",),
    "tensorflow.contrib.slim.learning.create_train_op": ("clip_gradient_norm", "gradient_multipliers"),
}

_EVERYWHERE = "there on every release so far, promised by none"

#: Private modules, and where they are.
PRIVATE_MODULES = dict([
    ("tensorflow.python.eager.backprop", "from 1.4 on"),
    ("tensorflow.python.eager.custom_gradient", "1.4-1.6 only"),
    ("tensorflow.python.eager.forwardprop", "from 1.15 on"),
    ("tensorflow.python.eager.imperative_grad", "from 1.4 on"),
    ("tensorflow.python.eager.tape", "from 1.4 on"),
    ("tensorflow.python.ops.custom_gradient", "from 1.7 on"),
    ("tensorflow.python.ops.gradients", _EVERYWHERE),
    ("tensorflow.python.ops.gradients_impl", _EVERYWHERE),
    ("tensorflow.python.ops.gradients_util", "from 1.14 on"),
] + [("tensorflow.python.ops.%s_grad" % name, _EVERYWHERE) for name in (
    "array", "control_flow", "data_flow", "image", "linalg", "math", "nn", "sparse")])

#: Single names in private modules, and where they are.
PRIVATE_NAMES = {
    "tensorflow.python.eager.function.defun": "1.4-2.11",
    "tensorflow.python.ops.gradients_impl._GradientsHelper": "1.7-1.13",
    "tensorflow.python.ops.gradients_impl._SymGrad": "0.12-1.13",
}
#: Operations that compute gradients: 1.7 took the underscore away, from all but those that never had one.
GENERATED_GRADIENT = re.compile(
    r"^tensorflow\.python\.ops\.gen_\w+_ops\.(_?)(?!fused_batch|bias_add|cholesky|strided|sparse_seg)\w+_grad$")

#: The attributes whose uses the checks look at.
ATTRIBUTES = frozenset([name.rpartition(".")[2] for name in list(REFERENCES) + list(PRIVATE_NAMES)] + [
    "_gradient_registry", "gradient_registry"])


def private_part(dotted):
    """(the part of TensorFlow, where it is) of a private name, or None."""
    generated = GENERATED_GRADIENT.match(dotted)
    if generated:
        return dotted, "0.12-1.6 only" if generated.group(1) else "from 1.7 on"
    if dotted in PRIVATE_NAMES:
        return dotted, PRIVATE_NAMES[dotted]
    for module in (dotted, dotted.rpartition(".")[0]):
        if module in PRIVATE_MODULES:
            return module, PRIVATE_MODULES[module]
    return None
