"""The package as installed: light to import, whole, and at home under any name."""
import ast
import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest

import tfgradcompat

PACKAGE = os.path.dirname(os.path.abspath(tfgradcompat.__file__))
REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

pytestmark = pytest.mark.once

DECORATE = """
@custom_grad
def scaled(x):
    return x * 2., lambda dy: dy * 7.
"""

# Graph mode everywhere: on TensorFlow 2 it is in compat.v1. The gradient of 2x is said to be
# `factor`, which shows whose gradient was used.
GRADIENT = """
import tensorflow as tf
tf1 = tf.compat.v1 if hasattr(tf, "compat") and hasattr(tf.compat, "v1") else tf

def make(custom_grad, factor):
    @custom_grad
    def scaled(x):
        return x * 2., lambda dy: dy * factor
    return scaled

def gradients(functions):
    with tf.Graph().as_default():
        x = tf1.placeholder("float32", [])
        found = [tf1.gradients(f(x), x)[0] for f in functions]
        with tf1.Session() as session:
            return [float(value) for value in session.run(found, {x: 3.})]
"""


def run(code, folder):
    """Runs code in a fresh process with `folder` on its path; returns (status, stdout, stderr)."""
    # Last on the path, for tests run from a checkout. An installed package is there already.
    code = "import sys\nsys.path.append(%r)\n" % os.path.dirname(PACKAGE) + textwrap.dedent(code)
    env = dict(os.environ)
    env.pop("PYTHONPATH", None)
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=str(folder),  # with -c the current folder is the first on the path
    )
    out, err = process.communicate()
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def sources():
    for folder, _, names in os.walk(PACKAGE):
        for name in sorted(names):
            if name.endswith(".py"):
                yield os.path.join(folder, name)


def parse(path):
    # As bytes: Python 2 refuses a coding line in a unicode source.
    with open(path, "rb") as stream:
        return ast.parse(stream.read(), path)


# ------------------------------------------------------------------- importing


def test_importing_and_decorating_import_no_tensorflow_and_print_nothing(tmpdir):
    code = "from tfgradcompat import custom_grad, route\n" + DECORATE
    code += "import sys\nassert not [m for m in sys.modules if m.split('.')[0] == 'tensorflow']\n"
    assert run(code, tmpdir) == (0, "", "")


def test_without_tensorflow_the_first_call_says_what_to_install(tmpdir):
    code = "import sys\nsys.modules['tensorflow'] = None\nfrom tfgradcompat import custom_grad\n"
    code += DECORATE
    code += textwrap.dedent(
        """
        try:
            scaled(1.)
        except ImportError as error:
            print(error)
        else:
            sys.exit("no ImportError")
        """
    )
    status, out, err = run(code, tmpdir)
    assert status == 0, err
    assert re.search(r"pip install .*tensorflow", out, re.DOTALL), out


# --------------------------------------------------------------- under any name


def test_the_sources_never_name_the_package():
    """A copy under another name has only itself: imports of its own must be relative."""
    for path in sources():
        for node in ast.walk(parse(path)):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                own = name.split(".")[0]
                assert own != "tfgradcompat", "%s:%d" % (path, node.lineno)
                # On Python 2 this would import the neighbour, on 3 something else.
                beside = os.path.join(os.path.dirname(path), own)
                assert not os.path.exists(beside + ".py"), "%s:%d" % (path, node.lineno)


def test_copies_under_other_names_are_right_beside_the_installed_one_and_without_it(tmpdir):
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    for folder in ("vendor_a", "vendor_b", "late"):
        for name in ("gradcopy", "othername"):
            shutil.copytree(PACKAGE, str(tmpdir.join(folder, name)), ignore=ignore)
        tmpdir.join(folder, "__init__.py").write("")
    # One process for all, and for both routes: importing TensorFlow is what takes the time. A copy
    # chooses its route at its first call.
    code = GRADIENT + textwrap.dedent(
        """
        import importlib, os, sys
        routes = ["native", "override"] if hasattr(tf, "custom_gradient") else ["override"]
        functions = []

        def add(route, *names):
            os.environ["TFGRADCOMPAT_ROUTE"] = route
            for name in names:
                copy = importlib.import_module(name)
                assert copy.route() == route, (name, copy.route())
                functions.append(make(copy.custom_grad, 5. + len(functions)))

        def check():
            expected = [5. + i for i in range(len(functions))]
            assert gradients(functions) == expected, gradients(functions)
            assert gradients(functions[::-1]) == expected[::-1]

        add(routes[0], "tfgradcompat", "vendor_a.gradcopy", "vendor_b.othername")
        check()
        add(routes[-1], "vendor_a.othername", "vendor_b.gradcopy")
        check()
        sys.modules["tfgradcompat"] = None  # from here on, importing it fails
        add(routes[0], "late.gradcopy")
        add(routes[-1], "late.othername")
        check()
        """
    )
    status, out, err = run(code, tmpdir)
    assert status == 0, out + err


# ------------------------------------------------------------------ the metadata


def test_version_is_the_one_of_setup_py():
    path = os.path.join(REPOSITORY, "setup.py")
    versions = [
        ast.literal_eval(node.value)
        for node in ast.walk(parse(path))
        if isinstance(node, ast.keyword) and node.arg == "version"
    ]
    assert versions == [tfgradcompat.__version__]


def test_the_types_are_in_the_package():
    """ci/tests/test_types.py tries them."""
    for name in ("py.typed", "__init__.pyi", "errors.pyi", "explaining.pyi", "testing.pyi", "transforms.pyi"):
        assert os.path.exists(os.path.join(PACKAGE, name)), name


def test_the_licence_is_in_the_package():
    with open(os.path.join(PACKAGE, "LICENSE")) as stream:
        assert "Apache License" in stream.read()
