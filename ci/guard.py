"""Runs a command in a process group of its own, and kills the group when its stdin ends.

    python guard.py COMMAND [ARGUMENT ...]

Whoever starts it holds the other end of stdin: closing it (a timeout), or dying in
whatever way (Ctrl-C, kill -9), ends the command and all that it started. See processes.py.
"""
import os
import signal
import subprocess
import sys
import threading


def main(command):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def kill_at_end_of_input():
        while os.read(0, 1024):
            pass
        kill_group(child.pid)

    threading.Thread(target=kill_at_end_of_input, daemon=True).start()
    # Not child.wait(): until the child is reaped its number, which is the group's, cannot
    # be given to somebody else.
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    kill_group(child.pid)  # what a crashed test left running
    code = child.wait()
    return code if code >= 0 else 128 - code


def kill_group(number):
    try:
        os.killpg(number, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
