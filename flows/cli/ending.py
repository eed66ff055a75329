"""A quiet end: what libraries say while the interpreter is being taken apart is for nobody."""

import atexit
import os
import sys


def silence_teardown() -> None:
    """Close stderr's file after all other exit handlers.

    DuckDB's binding reports, after them, every object that another library still holds; pages of it, and harmless.
    Handlers run last come first, so this is to be called before anything else registers one.
    """
    atexit.register(_silence)


def _silence() -> None:
    sys.stderr.flush()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
