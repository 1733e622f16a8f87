"""The wheel as it is built: what is in it and what it requires."""
import os
import subprocess
import zipfile
from email.parser import Parser

import pytest

from ci import wheels


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(wheel, names):
    [name] = [name for name in names if name.endswith(".dist-info/METADATA")]
    with zipfile.ZipFile(wheel) as archive:
        return Parser().parsestr(archive.read(name).decode("utf-8"))


def test_is_one_for_both_pythons(wheel):
    assert os.path.basename(wheel).endswith("-py2.py3-none-any.whl")


def test_has_the_package_and_nothing_else(names):
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tfgradcompat"}
    assert not [name for name in names if "tests" in name.split("/") or "/test_" in name]


def test_has_every_file_of_the_package(names):
    package = os.path.join(wheels.REPOSITORY, "tfgradcompat")
    for folder, _, files in os.walk(package):
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), wheels.REPOSITORY)
            if "__pycache__" not in path and not name.endswith((".pyc", ".swp")):
                assert path in names


def test_licence_is_inside_the_package_and_is_the_projects(wheel):
    with open(os.path.join(wheels.REPOSITORY, "LICENSE"), "rb") as stream:
        text = stream.read()
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("tfgradcompat/LICENSE") == text
    assert b"Apache License" in text


def test_requires_no_tensorflow(metadata):
    required = metadata.get_all("Requires-Dist")
    always = [text for text in required if "extra ==" not in text]
    assert sorted(text.split(">")[0].strip() for text in always) == ["numpy", "six"]
    assert sorted(metadata.get_all("Provides-Extra")) == ["test", "tf", "tf-cpu"]


def test_says_which_pythons(metadata):
    bounds = {bound.strip() for bound in metadata["Requires-Python"].split(",")}
    assert bounds == {">=2.7"} | {"!=3.%d.*" % minor for minor in range(6)}


def test_building_leaves_the_checkout_as_it_was(tmp_path):
    before = sorted(os.listdir(wheels.REPOSITORY))
    with open(str(tmp_path / "log"), "w") as log:
        wheels.build(str(tmp_path), log)
    assert sorted(os.listdir(wheels.REPOSITORY)) == before


def test_which_commit_is_built(tmp_path, monkeypatch):
    def git(*arguments):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.check_output(["git", "-C", str(tmp_path)] + who + list(arguments)).decode().strip()

    git("init", "--quiet")
    (tmp_path / "a.py").write_text("")
    git("add", "a.py")
    git("commit", "--quiet", "-m", "first")
    git("tag", "-m", "a tag", "v1")  # a name, but none of a commit
    monkeypatch.setattr(wheels, "REPOSITORY", str(tmp_path))
    assert wheels.commit() == git("rev-parse", "--short", "HEAD")
    (tmp_path / "a.py").write_text("changed = 1\n")
    assert wheels.commit() == git("rev-parse", "--short", "HEAD") + "-dirty"
    (tmp_path / "unpacked").mkdir()  # an sdist in another project's repository
    monkeypatch.setattr(wheels, "REPOSITORY", str(tmp_path / "unpacked"))
    assert wheels.commit() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert wheels.commit() == ""
