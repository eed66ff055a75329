"""The command line: one file per command group; results on stdout, messages on stderr."""

import sys

try:
    from callwright.flows.cli.main import main as main
except KeyboardInterrupt:  # before there is anybody to tell of it
    sys.stderr.write("Stopped.\n")
    sys.exit(130)
