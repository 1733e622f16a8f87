"""Nothing that was started outlives the one who started it."""
import os
import signal
import subprocess
import sys
import time

import pytest

from ci import processes

# A program with a child in the same group, as pip and the tests have them.
FAMILY = (
    "import subprocess, sys, time\n"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
    "print('child', child.pid)\n"
    "sys.stdout.flush()\n"
)


@pytest.fixture
def log(tmp_path):
    with open(str(tmp_path / "log"), "w") as stream:
        yield stream


def child_of(log):
    """Waits until the program has written its child's number, and returns it."""
    for _ in range(200):
        with open(log if isinstance(log, str) else log.name) as stream:
            words = stream.read().split()
        if "child" in words[-2:]:
            return int(words[-1])
        time.sleep(0.05)
    raise AssertionError("the program did not start")


def assert_gone(pid):
    for _ in range(100):
        try:
            with open("/proc/%d/stat" % pid) as stream:
                if stream.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError("process %d is still there" % pid)


def test_returns_the_exit_status_and_keeps_the_output(log):
    assert processes.run([sys.executable, "-c", "print('hello'); exit(3)"], log) == 3
    with open(log.name) as stream:
        assert "hello" in stream.read()


def test_a_program_ended_by_a_signal_is_not_a_success(log):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    assert processes.run([sys.executable, "-c", code], log) == 128 + signal.SIGSEGV


def test_time_limit_kills_the_whole_group(log):
    with pytest.raises(processes.TimedOut, match="more than 2 s"):
        processes.run([sys.executable, "-c", FAMILY + "time.sleep(60)"], log, timeout=2)
    with open(log.name) as stream:
        lines = stream.read().splitlines()
    assert lines[-1] == "killed after 2 s"
    assert_gone(int(lines[-2].split()[1]))


def test_what_a_finished_program_left_running_is_killed(log):
    assert processes.run([sys.executable, "-c", FAMILY], log) == 0
    assert_gone(child_of(log))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_killing_the_caller_leaves_nothing(tmp_path, number):
    path = str(tmp_path / "log")
    code = "from ci import processes; import sys; processes.run(sys.argv[2:], open(sys.argv[1], 'w'))"
    command = [sys.executable, "-c", code, path, sys.executable, "-c", FAMILY + "time.sleep(60)"]
    root = os.path.dirname(os.path.dirname(os.path.abspath(processes.__file__)))
    open(path, "w").close()
    caller = subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL)
    child = child_of(path)
    caller.send_signal(number)
    caller.wait()
    assert_gone(child)
