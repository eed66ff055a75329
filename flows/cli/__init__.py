"""The command line: one file per command group; results on stdout, messages on stderr."""

from callwright.flows.cli.main import main

__all__ = ["main"]
