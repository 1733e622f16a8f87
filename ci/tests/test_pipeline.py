"""Two stages at once: all items get a result, and few wait ready."""
import threading
import time

from ci import pipeline


def failed(item, error):
    return (item, repr(error))


def test_every_item_gets_its_result():
    found = pipeline.run(range(9), lambda item: item * 10, lambda item, ready: (item, ready), failed)
    assert sorted(found) == [(item, item * 10) for item in range(9)]


def test_nothing_to_do():
    assert list(pipeline.run([], None, None, failed)) == []


def test_a_failure_in_either_stage_does_not_stop_the_others():
    def prepare(item):
        if item == 1:
            raise OSError("no network")
        return item

    def test(item, ready):
        if item == 2:
            raise ValueError("no tests")
        return (item, "good")

    found = dict(pipeline.run(range(5), prepare, test, failed))
    assert found.pop(1) == repr(OSError("no network"))
    assert found.pop(2) == repr(ValueError("no tests"))
    assert found == {0: "good", 3: "good", 4: "good"}


def test_works_ahead_but_not_further_than_told():
    lock = threading.Lock()
    waiting, most = [0], [0]

    def prepare(item):
        with lock:
            waiting[0] += 1
            most[0] = max(most[0], waiting[0])

    def test(item, ready):
        with lock:
            waiting[0] -= 1
        time.sleep(0.05)

    list(pipeline.run(range(12), prepare, test, failed, ahead=2, testers=1))
    assert most[0] == 2
