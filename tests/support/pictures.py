"""The command line of the modules that take pictures for the docs."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path


def take_by_command(
    module: str, take: Callable[[Path, Path], None], out: Path, *, kept: str
) -> None:
    """Take pictures with a home and a folder as the command line has them; without a home, in
    one that is thrown away.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description="Take the pictures.")
    parser.add_argument("--out", type=Path, default=out)
    parser.add_argument("--home", type=Path, help=f"keep {kept} here; a second run is faster")
    told = parser.parse_args()
    if told.home:
        take(told.home, told.out)
        return
    with tempfile.TemporaryDirectory() as home:
        take(Path(home), told.out)
