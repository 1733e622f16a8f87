"""Builds the project's wheel, by way of its sdist, leaving the checkout as it was."""
import glob
import os
import shutil
import subprocess
import sys

from ci import processes

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# setuptools packs whatever an earlier build left in build/ and *.egg-info.
LEFT_OUT = (".git", ".tox", "build", "dist", "*.egg-info", "__pycache__", ".pytest_cache")


def build(folder, log) -> str:
    """Builds in `folder` and returns the path of the wheel; the sdist lies beside it."""
    source = os.path.join(folder, "source")
    shutil.copytree(REPOSITORY, source, ignore=shutil.ignore_patterns(*LEFT_OUT))
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source]
    status = processes.run(command, log)
    wheels = glob.glob(os.path.join(folder, "*.whl"))
    if status or len(wheels) != 1:
        raise RuntimeError("the wheel could not be built, see %s" % log.name)
    shutil.rmtree(source)
    return wheels[0]


def commit() -> str:
    """The commit that is built, "f33e1ad" or with changes "f33e1ad-dirty"; empty where there is no git or no repository."""
    git = ["git", "--git-dir", os.path.join(REPOSITORY, ".git"), "--work-tree", REPOSITORY]  # and none of a folder above
    try:
        described = subprocess.run(
            git + ["describe", "--always", "--dirty", "--exclude", "*"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except FileNotFoundError:
        return ""
    return described.stdout.decode().strip()
