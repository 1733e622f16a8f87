"""One user of a folder at a time, among all processes of this machine."""
import fcntl
import os


class Lock:
    """Held until released or until the process ends, whatever ended it.

    The file is never deleted: two processes could then each lock "the" file.
    """

    def __init__(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self.path = path

    def acquire(self):
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        return self

    def try_acquire(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self):
        os.close(self._descriptor)

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *unused):
        self.release()
