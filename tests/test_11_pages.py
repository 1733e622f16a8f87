# -*- coding: utf-8 -*-
"""The commands in README.md and docs/, run as they are written there, with the files that their page shows.

A page's commands run in their order in one empty folder. A command may end with another status than 0 if it says so: "# ends with 1".
"""
from __future__ import absolute_import, division, print_function

import os
import re
import subprocess
import sys

import pytest

import pages
from programs import python_path
from tfgradcompat.tools import copies

pytestmark = pytest.mark.once

# What needs packages from elsewhere or a checkout, has arguments that stand for the reader's own, or takes minutes. Other tests try it:
# those of ci/, of the tools and of the examples.
NOT_HERE = ("pip ", "tox", "vendoring ", "cat ", "ci/", "python -m tfgradcompat scan ", "python -m tfgradcompat demo ", "python examples/",
            "python3 examples/")
PAGES = ["README.md", "docs/testing.md", "docs/vendoring.md"]


def commands(page):
    """The commands of the blocks, in their order; `>>>` is for sessions of Python."""
    return [line[2:] for block in pages.blocks(page) if block.language == "console"
            for line in block.text.splitlines() if line.startswith("$ ")]


def runs_here(command):
    if command.startswith(NOT_HERE):
        return False
    assert re.match(r"(\w+=\w+ )?(python|mkdir|touch|cp|rm|echo) ", command), "unknown command: " + command
    return True


def files(page):
    return [block for block in pages.blocks(page) if block.language == "python" and pages.file_name(block)]


@pytest.mark.parametrize("page", PAGES)
def test_commands(page, tmpdir):
    folder, shown = tmpdir.mkdir("project"), files(page)
    for block in shown:
        folder.join(*pages.file_name(block).split("/")).write(block.text.encode("utf-8"), "wb", ensure=True)
    env = environment(tmpdir.mkdir("bin"))
    for command in filter(runs_here, commands(page)):
        status = re.search(r"# ends with (\d)", command)
        process = subprocess.Popen(["sh", "-c", command], cwd=str(folder), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out = process.communicate()[0].decode("utf-8", "replace")
        assert process.returncode == (int(status.group(1)) if status else 0), "$ %s\n%s" % (command, out)
    for block in shown:
        assert used(block, page), "no command uses " + pages.file_name(block)


def environment(folder):
    """The variables of a shell in which `python` is this one, and imports the package that is tested."""
    script = folder.join("python")
    script.write('#!/bin/sh\nexec "%s" "$@"\n' % sys.executable)
    script.chmod(0o755)
    paths = [str(folder)] + os.environ["PATH"].split(os.pathsep)
    package = python_path(os.path.dirname(copies.own_folder()))
    return dict(os.environ, PATH=os.pathsep.join(paths), PYTHONPATH=package, TF_CPP_MIN_LOG_LEVEL="3")


def used(block, page):
    """Whether a command or another file names a file, or pytest reads it by itself."""
    name = pages.file_name(block)
    module = name[:-len(".py")].replace("/", ".")
    texts = commands(page) + [other.text for other in files(page) if other != block]
    return name == "conftest.py" or any(re.search(r"\b%s\b" % re.escape(word), text) for word in (name, module) for text in texts)


def test_no_page_with_commands_is_forgotten():
    with_commands = [page for page in pages.names() if any(map(runs_here, commands(page)))]
    assert with_commands == PAGES
    assert [page for page in pages.names() if files(page)] == PAGES[1:]
