"""The command line: ``python -m <this package> demo``.

Each subcommand is a module of ``tools`` with ``NAME``, ``HELP``, ``add_arguments(parser)`` and ``run(arguments)``,
which returns the exit status. Importing such a module imports no TensorFlow; ``run`` does.
"""
from __future__ import absolute_import, division, print_function

import argparse
import sys

from . import tools
from .tools import demo, scan

COMMANDS = [demo, scan]


def main(arguments=None):
    """Runs one subcommand and returns its exit status.

    Args:
      arguments: a list of strings; None takes those of the process.
    """
    package = tools.__name__.rpartition(".")[0]
    parser = argparse.ArgumentParser(prog="python -m " + package)
    subparsers = parser.add_subparsers(dest="command", metavar="command")
    subparsers.required = True  # Python 3 would accept an empty command line.
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.NAME, help=command.HELP, description=command.__doc__,
                                          formatter_class=argparse.RawDescriptionHelpFormatter)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    parsed = parser.parse_args(arguments)
    return parsed.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
