"""The types of the public names: the stubs (.pyi) that stand beside the modules, as users' mypy sees them."""
import os
import re
import shutil
import subprocess
import sys

import pytest

from ci import wheels

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(wheels.REPOSITORY, "tfgradcompat")
STUBS = sorted(name for name in os.listdir(PACKAGE) if name.endswith(".pyi"))
SAMPLES = ("types_right.py", "types_wrong.py")

# Stands for TensorFlow's types, which are not installed here (those of users come from the distribution types-tensorflow).
# Written for the samples, with the names that they and the package's stubs use, in the manner of that distribution: a
# variable is a tensor, and there are incomplete classes that have any attribute.
TENSORFLOW = """
from typing import Any

class DType:
    name: str
class TensorShape: ...
class Tensor:
    dtype: DType
    shape: TensorShape
    def __mul__(self, other: Any) -> Tensor: ...
    def __add__(self, other: Any) -> Tensor: ...
    def __getattr__(self, name: str) -> Any: ...
class Variable(Tensor):
    def __init__(self, value: Any) -> None: ...
    def assign(self, value: Any) -> Any: ...

float32: DType
def constant(value: Any) -> Tensor: ...
def round(x: Tensor, name: str | None = None) -> Tensor: ...
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy keeps of the standard library and numpy from one run to the next."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def tensorflow(tmp_path):
    """A folder with the types of TensorFlow."""
    folder = tmp_path / "types" / "tensorflow"
    folder.mkdir(parents=True)
    (folder / "__init__.pyi").write_text(TENSORFLOW)
    return folder.parent


def run(arguments, folder, **variables):
    """Runs this Python in a folder; returns (status, output)."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    env.update({name: str(value) for name, value in variables.items()})
    process = subprocess.run(
        [sys.executable] + arguments, cwd=str(folder), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return process.returncode, process.stdout.decode()


def mypy(cache, arguments, folder, **variables):
    options = ["--strict", "--config-file=", "--cache-dir", cache, "--show-error-codes", "--no-pretty", "--hide-error-context"]
    return run(["-m", "mypy"] + options + arguments, folder, **variables)


def copy_samples(folder, name="tfgradcompat"):
    """Copies the samples, as those of a user who imports the package by this name."""
    for sample in SAMPLES:
        with open(os.path.join(HERE, sample)) as stream:
            text = stream.read()
        (folder / sample).write_text(
            text.replace("import tfgradcompat\n", "import %s as tfgradcompat\n" % name).replace("from tfgradcompat ", "from %s " % name)
        )


def errors(text):
    """{(file, line): codes} of the errors that mypy printed."""
    found = {}
    for path, line, code in re.findall(r"^(.+?):(\d+): error: .*\[([a-z-]+)\]$", text, re.M):
        found.setdefault((os.path.basename(path), int(line)), []).append(code)
    return found


def marked():
    """{(file, line): codes} as the samples promise."""
    found = {}
    for sample in SAMPLES:
        with open(os.path.join(HERE, sample)) as stream:
            for number, line in enumerate(stream, 1):
                mark = re.search(r"  # error: ([a-z -]+)$", line)
                if mark:
                    found[sample, number] = mark.group(1).split()
    return found


def check_samples(status, out):
    assert status == 1, out
    found, expected = errors(out), marked()
    assert len(expected) > 50
    missing = {place: codes for place, codes in expected.items() if not set(codes) & set(found.get(place, ()))}
    assert not missing, out
    assert not set(found) - set(expected), out


def test_users_are_told_of_wrong_uses_and_of_nothing_else(cache, target, tensorflow, tmp_path):
    """With the package as pip installs it: py.typed is what lets mypy look into it."""
    copy_samples(tmp_path)
    status, out = mypy(cache, list(SAMPLES), tmp_path, PYTHONPATH=target, MYPYPATH=tensorflow)
    check_samples(status, out)


def test_renamed_copies_are_typed_too(cache, target, tensorflow, tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "__init__.py").write_text("")
    status, out = run(["-m", "tfgradcompat", "vendor", str(tmp_path / "project" / "gradcopy")], tmp_path, PYTHONPATH=target)
    assert status == 0, out
    copy_samples(tmp_path / "project", "project.gradcopy")
    # Its sources have no annotations, so users leave them out; the stubs are found through imports.
    status, out = mypy(cache, ["project", "--exclude", "gradcopy/"], tmp_path, MYPYPATH=tensorflow)
    check_samples(status, out)


def test_without_types_of_tensorflow_its_values_are_any_and_the_rest_stays(cache, target, tmp_path):
    copy_samples(tmp_path)
    (tmp_path / "use.py").write_text("from types_right import scaled, x\nscaled(x, scale='1')\nreveal_type(scaled(x))\n")
    options = ["--ignore-missing-imports", "--disable-error-code=assert-type"]  # of lists of Any, mypy says Any
    status, out = mypy(cache, options + ["use.py", "types_right.py"], tmp_path, PYTHONPATH=target)
    assert (status, errors(out)) == (1, {("use.py", 2): ["arg-type"]}), out
    assert 'use.py:3: note: Revealed type is "Any"' in out, out


def test_stubs_are_right_by_themselves(cache, tmp_path):
    """Where TensorFlow's types are missing, as here, too: in a copy, users would see our errors among theirs."""
    status, out = mypy(cache, [os.path.join(PACKAGE, name) for name in STUBS], tmp_path)
    assert status == 0, out


def test_stubs_say_what_the_modules_have(target, tmp_path):
    folder = tmp_path / "stubs" / "tfgradcompat"
    folder.mkdir(parents=True)
    for name in STUBS:
        shutil.copy(os.path.join(PACKAGE, name), str(folder / name))
    # Modules without a stub are not public: stubtest need not look for one.
    internal = ["tfgradcompat.%s" % name[:-3] for name in os.listdir(PACKAGE) if name.endswith(".py") and name + "i" not in STUBS]
    (tmp_path / "internal").write_text("\n".join(internal + [r"tfgradcompat\.tools(\..*)?"]))
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = true\n")
    stubtest = ["-m", "mypy.stubtest", "tfgradcompat", "--concise", "--allowlist", "internal", "--mypy-config-file", "mypy.ini"]
    status, out = run(stubtest, tmp_path, PYTHONPATH=target, MYPYPATH=folder.parent)
    assert status == 0, out


def test_stubs_import_each_other_relatively():
    for name in STUBS:
        with open(os.path.join(PACKAGE, name)) as stream:
            assert "tfgradcompat" not in stream.read(), name
