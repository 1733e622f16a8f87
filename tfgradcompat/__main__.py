"""The command line: ``python -m <this package> demo``.

Each subcommand is a module of ``tools`` with ``add_arguments(parser)`` and ``run(arguments)``, which returns the exit
status; only the one that is asked for is imported. Importing it imports no TensorFlow; ``run`` may.
"""
from __future__ import absolute_import, division, print_function

import argparse
import importlib
import sys

from . import tools

#: By name: the module of `tools`, and one line of help.
COMMANDS = {
    "demo": ("demo", "run the known custom gradients and train a small classifier on real digits"),
    "doctor": ("doctor", "say what is installed, whether it fits, and whether custom gradients work here"),
    "scan": ("scan", "find gradient code that works on some TensorFlow releases only"),
    "tox": ("toxini", "print a tox.ini for your project, with the versions that were tested"),
    "vendor": ("vendor", "copy this package into your project, under any name"),
}


def main(arguments=None):
    """Runs one subcommand and returns its exit status.

    Args:
      arguments: a list of strings; None takes those of the process.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    package = tools.__name__.rpartition(".")[0]
    parser = argparse.ArgumentParser(prog="python -m " + package)
    subparsers = parser.add_subparsers(dest="command", metavar="command")
    subparsers.required = True  # Python 3 would accept an empty command line.
    for name, (module, text) in sorted(COMMANDS.items()):
        subparser = subparsers.add_parser(name, help=text, formatter_class=argparse.RawDescriptionHelpFormatter)
        if arguments[:1] == [name]:
            command = importlib.import_module("%s.%s" % (tools.__name__, module))
            subparser.description = command.__doc__
            command.add_arguments(subparser)
            subparser.set_defaults(run=command.run)
    parsed = parser.parse_args(arguments)
    return parsed.run(parsed)


if __name__ == "__main__":
    sys.exit(main())
