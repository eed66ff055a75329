"""The command line: one file a command group; results on stdout, messages and progress on
stderr.
"""

from callwright.flows.cli.main import main

__all__ = ["main"]
