"""What is shown of a failing cell: the failures of every setup, and not too much."""
from ci import progress


def log_of(tmp_path, lines):
    path = tmp_path / "cell.log"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def setup(name, failures=(), lines=3):
    """The log of one setup, of pytest 4.6 (no message in the summary) or newer."""
    log = ["==== setup %s" % name, "===== test session starts =====", "collected 3 items"]
    if failures:
        log += ["===== FAILURES ====="]
        for failure in failures:
            log += ["_____ %s _____" % failure] + ["line %d of %s" % (i, failure) for i in range(lines)]
            log += ["_ _ _ _ _ _ _ _", "E   AssertionError: in " + failure]
            log += ["----- Captured stdout call -----", "printed by " + failure]
        log += ["===== short test summary info ====="] + ["FAILED tests/test_a.py::%s" % failure for failure in failures]
    return log + ["===== %d failed, 3 passed in 0.5 seconds =====" % len(failures)]


def verdicts(**failed):
    word = {False: "good", True: "BAD "}
    return ["%s %-9s 3 passed, %d failed, 0 errors, 0 skipped, 1 s" % (word[n > 0], name, n) for name, n in failed.items()]


def test_a_failure_in_the_first_setup_is_shown(tmp_path):
    log = ["$ pip install"] + setup("graph", ["test_one[graph]"]) + setup("eager") + verdicts(graph=1, eager=0)
    shown = progress.excerpt(log_of(tmp_path, log))
    assert shown == [
        "==== setup graph",
        "FAILED tests/test_a.py::test_one[graph]",
        "_____ test_one[graph] _____",
        "line 0 of test_one[graph]",
        "line 1 of test_one[graph]",
        "line 2 of test_one[graph]",
        "_ _ _ _ _ _ _ _",
        "E   AssertionError: in test_one[graph]",
    ] + verdicts(graph=1, eager=0)


def test_each_setup_has_its_names_and_a_failure_in_full(tmp_path):
    many = ["test_%d" % i for i in range(30)]
    log = setup("graph", ["g_" + name for name in many], 90) + setup("eager", ["e_" + name for name in many], 90)
    log += setup("override", ["o_" + name for name in many], 90) + verdicts(graph=30, eager=30, override=30)
    shown = progress.excerpt(log_of(tmp_path, log))
    assert len(shown) <= 120
    for letter in "geo":
        assert "FAILED tests/test_a.py::%s_test_9" % letter in shown
        assert "E   AssertionError: in %s_test_0" % letter in shown
    assert shown.count("... and 20 more") == 3
    assert not [line for line in shown if "printed" in line]
    assert shown[-3:] == verdicts(graph=30, eager=30, override=30)


def test_of_two_processes_of_a_setup_the_one_that_failed_is_shown(tmp_path):
    passed = ["==== setup eager", "===== test session starts =====", "===== 3 passed in 0.5 seconds ====="]
    failed = setup("eager", ["test_one"])
    shown = progress.excerpt(log_of(tmp_path, passed + failed + verdicts(eager=1)))
    assert shown == progress.excerpt(log_of(tmp_path, failed + passed + verdicts(eager=1)))
    assert shown.count("==== setup eager") == 1 and "FAILED tests/test_a.py::test_one" in shown
    died = ["==== setup eager", "===== test session starts =====", "Killed"]
    assert "Killed" in progress.excerpt(log_of(tmp_path, failed + died + verdicts(eager=1)))


def test_errors_of_fixtures_are_failures(tmp_path):
    log = ["==== setup graph", "===== ERRORS =====", "_ ERROR at setup of test_with_a_very_long_name _", "E   ValueError"]
    log += ["===== short test summary info =====", "ERROR tests/test_a.py::test_with_a_very_long_name - ValueError"]
    log += ["===== 3 passed, 1 error in 0.5s =====", "BAD  graph     3 passed, 0 failed, 1 errors, 0 skipped, 1 s"]
    shown = progress.excerpt(log_of(tmp_path, log))
    assert shown == ["==== setup graph", log[5], log[2], log[3], log[7]]


def test_a_setup_that_ends_without_a_word_shows_its_last_lines(tmp_path):
    crash = ["==== setup graph"] + ["line %d" % i for i in range(50)] + ["Segmentation fault"]
    log = crash + setup("eager", ["test_one"]) + verdicts(graph=1, eager=1)
    shown = progress.excerpt(log_of(tmp_path, log))
    assert shown[:2] == ["==== setup graph", "line 31"] and shown[20] == "Segmentation fault"
    assert "FAILED tests/test_a.py::test_one" in shown
    # a time limit: no setup has a verdict
    shown = progress.excerpt(log_of(tmp_path, setup("graph", ["test_one"]) + crash[:9] + ["more than 600 s"]))
    assert "FAILED tests/test_a.py::test_one" in shown and shown[-1] == "more than 600 s"


def test_logs_without_setups(tmp_path):
    lines = ["line %d" % i for i in range(50)]  # an installation that failed
    assert progress.excerpt(log_of(tmp_path, lines)) == lines[-30:]
    tools = progress.excerpt(log_of(tmp_path, setup("graph", ["test_one"])[1:]))
    assert "FAILED tests/test_a.py::test_one" in tools and "E   AssertionError: in test_one" in tools
    assert progress.excerpt("") == []
