"""Runs the project's tests on every TensorFlow and Python of the matrix.

    matrix.tsv        the one table: what is tested, on what, with which pins
    matrix.py         reads it
    toxini.py         writes tox.ini from it
    pipsettings.py    makes pip take wheels
    interpreters.py   finds the Pythons
    processes.py      runs a program so that nothing of it is left behind
    guard.py          ... its other half, a process of its own
    bootstrap.py      makes the tools environment in which all of this runs
    locks.py          one user of a folder at a time
    wheels.py         builds the project's wheel
    environments.py   makes, reuses and deletes the cells' environments
    cell.py           runs the tests, inside a cell's own Python
    pipeline.py       installs the next cells while the last ones are tested
    results.py        what came of each row, and its JSON
    progress.py       progress, table, summary
    runner.py         puts these together: `ci/test`
    report.py         draws the results of runs, with report_table.py, report_page.py and report_picture.py
    patterns.py       ... and makes the table of docs/migrating.md of them
    ranges.py         "1.4–1.8", for both
    demo.py           `ci/demo`

Only the standard library is used before `bootstrap` has run.
"""
