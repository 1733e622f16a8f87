"""`ci/demo`: the demo from the built wheel, on the newest TensorFlow that the Python at
hand can have and, where there is a Python 2.7, on TensorFlow 1.8.
"""
import os
import platform
import sys
import tempfile

from ci import matrix, processes, runner

OLD = "py27-tf1.8"


def cells():
    table = matrix.read()
    newest = matrix.newest_for(table, ".".join(platform.python_version_tuple()[:2]))
    old = matrix.select(table, [OLD])[0]
    return [newest] + ([old] if runner.find_interpreter(old.python) else [])


def main():
    status = 0
    with tempfile.TemporaryDirectory() as temporary:
        run = runner.Run(runner.parse([]), temporary)
        run.build_wheel()
        for cell in cells():
            environment, _ = run.prepare(cell)
            print("==== demo on %s, Python %s" % (cell.tensorflow, cell.python), flush=True)
            env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")
            env.pop("PYTHONPATH", None)
            command = [environment.python, "-m", "tfgradcompat", "demo"]
            code = processes.run(command, sys.stdout, timeout=600, env=env, cwd=temporary)
            environment.release()
            print("==== %s" % ("good" if code == 0 else "FAILED with status %d" % code))
            status = status or code
    return 1 if status else 0
