"""`python -m tests.walk` makes both walks and prints their tables."""

import sys
import tempfile
from pathlib import Path

from tests.support.environments import build_wheel, environment_beside_ours
from tests.walk.journey import interrupted_walk, nobody_else, table_of, traveller, walk


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="callwright-walk-") as made, nobody_else() as inside:
        folder = Path(made)
        programs = environment_beside_ours(folder / "installed", str(build_wheel(folder)))
        with traveller(programs, folder / "straight", inside) as someone:
            sys.stdout.write(table_of([*walk(someone)]) + "\n")
        with traveller(programs, folder / "interrupted", inside) as someone:
            sys.stdout.write(table_of([step for one in interrupted_walk(someone) for step in (*one.ended, one.whole)]))


if __name__ == "__main__":
    main()
