"""Two stages at work at the same time: the next items are made ready while others are tested.

Installing waits for the network and the disk for a good part of its time, testing for the
processor; side by side they keep two cores busy.
"""
import queue
import threading


def run(items, prepare, test, failed, ahead=2, testers=2):
    """Yields the results of `test(item, prepare(item))` as they come, one for each item.

    At most `ahead` prepared items wait, so that little disk is used. An exception in either
    stage becomes the result `failed(item, error)`, and the others go on. The threads are
    daemons: when the caller is interrupted, they end with the process.
    """
    items = list(items)
    ready = queue.Queue(max(1, ahead - 1))  # one more is in the hands of the installer
    results = queue.Queue()

    def install_all():
        for item in items:
            try:
                prepared = prepare(item)
            except Exception as error:  # whatever it is, it is this item's result
                results.put(failed(item, error))
            else:
                ready.put((item, prepared))
        for _ in range(testers):
            ready.put(None)

    def test_all():
        for item, prepared in iter(ready.get, None):
            try:
                results.put(test(item, prepared))
            except Exception as error:
                results.put(failed(item, error))

    for target in [install_all] + [test_all] * testers:
        threading.Thread(target=target, daemon=True).start()
    for _ in items:
        yield results.get()
