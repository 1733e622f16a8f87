"""Builds the project's wheel, by way of its sdist, leaving the checkout as it was."""
import glob
import os
import shutil
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
