# -*- coding: utf-8 -*-
"""Programs of tests that run one after the other, each in a process of its own."""
from __future__ import absolute_import, division, print_function

import os
import subprocess
import sys
import textwrap


def python_path(*folders):
    """PYTHONPATH for a child process, for `folders` that it does not look into anyway.

    In front of Python's own modules, enum34, which TensorFlow 1.4 brings, would hide one of Python 3.
    """
    return os.pathsep.join(str(folder) for folder in folders if "site-packages" not in str(folder))


def in_order(folder, module, *programs):
    """Run programs in a folder that has `module` in it, as model.py; each must succeed."""
    folder.join("model.py").write(module)
    for i, program in enumerate(programs):
        # The current folder is the first on the path of a script.
        script = folder.join("program%d.py" % i)
        script.write(textwrap.dedent(program))
        process = subprocess.Popen([sys.executable, str(script)], cwd=str(folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1"))
        out = process.communicate()[0]
        assert process.returncode == 0, out.decode("utf-8", "replace")
