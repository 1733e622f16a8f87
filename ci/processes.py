"""Runs a program so that nothing of it outlives this one."""
import os
import subprocess
import sys

GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")


class TimedOut(Exception):
    """The program was killed because it took too long."""


def run(command, log, timeout=None, env=None, cwd=None) -> int:
    """Runs `command` with its output appended to the file `log`; returns its exit status.

    Raises:
      TimedOut: after `timeout` seconds; the program and all it started are killed.
    """
    log.write("$ %s\n" % " ".join(command))
    log.flush()
    # A session of its own: Ctrl-C in the terminal must reach this process only, whose
    # end the guard then notices.
    guard = subprocess.Popen(
        [sys.executable, "-I", "-S", GUARD] + list(command),
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )
    try:
        return guard.wait(timeout)
    except subprocess.TimeoutExpired:
        log.write("killed after %d s\n" % timeout)
        log.flush()
        raise TimedOut("took more than %d s" % timeout)
    finally:
        guard.stdin.close()
        guard.wait()
