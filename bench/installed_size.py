"""Count the packages and MB of the core and each extra: `python -m bench.installed_size`.

Each is installed into its own environment, at the versions in requirements.lock.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import uv

from callwright.warehouse.extras import EXTRAS

_TOP = Path(__file__).parents[1]
_MB = 1e6


def main() -> None:
    """Print a line for the core, for the core with each extra, and for all."""
    print(f"{'':10}{'packages':>10}{'MB':>8}")
    for extra in ("core", *EXTRAS, "all"):
        packages, size = measure(*([] if extra == "core" else ["--extra", extra]))
        print(f"{extra:10}{packages:10}{size / _MB:8.0f}", flush=True)


def measure(*chosen: str) -> tuple[int, int]:
    """Return how many packages the core needs with `chosen`, and their bytes without .pyc files."""
    with tempfile.TemporaryDirectory() as folder:
        _uv("venv", "--python", sys.executable, folder)
        project = [str(_TOP / "pyproject.toml"), "--constraint", str(_TOP / "requirements.lock")]
        _uv("pip", "install", "--python", folder, "--requirements", *project, *chosen)
        [site] = Path(folder).glob("lib/*/site-packages")
        size = sum(
            path.stat().st_size
            for path in site.rglob("*")
            if path.is_file() and path.suffix != ".pyc"
        )
        return len(list(site.glob("*.dist-info"))), size


def _uv(*words: str) -> None:
    subprocess.run([uv.find_uv_bin(), *words, "--quiet"], check=True)


if __name__ == "__main__":
    main()
