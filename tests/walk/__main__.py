"""`python -m tests.walk` makes both walks and prints their tables."""

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.support.environments import build_wheel, environment_beside_ours
from tests.walk.journey import HEAD, Step, interrupted_walk, nobody_else, row_of, traveller, walk


def main() -> None:
    """Print each step when it is made."""
    with tempfile.TemporaryDirectory(prefix="callwright-walk-") as made, nobody_else() as inside:
        folder = Path(made)
        programs = environment_beside_ours(folder / "installed", str(build_wheel(folder)))
        with traveller(programs, folder / "straight", inside) as someone:
            _print(walk(someone))
        with traveller(programs, folder / "interrupted", inside) as someone:
            _print(step for one in interrupted_walk(someone) for step in (*one.ended, one.whole))


def _print(steps: Iterable[Step]) -> None:
    sys.stdout.write(HEAD)
    for step in steps:
        sys.stdout.write(row_of(step))
        sys.stdout.flush()
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
