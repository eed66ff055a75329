"""A Label Studio that was installed and started once on this machine; what tests start are copies,
which are up in seconds.

It lies below `.cache` under the print of all that it was made by, so that a change to how a Label
Studio is installed or started lets the next run start one from nothing again.
"""

import fcntl
import os
import shutil
import sqlite3
import sys
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

from callwright.annotation.studio import server
from callwright.annotation.studio.server import StudioPlaces, load_credentials, save_credentials

_CACHE = Path(__file__).parents[2] / ".cache" / "label-studio"
_DATABASE = "label_studio.sqlite3"
_READY = "ready"


def studio_template() -> Path:
    """The work folder of the Label Studio that all others are copies of, which does not run."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    home = _CACHE / _print()
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / _READY).exists():
            shutil.rmtree(home, ignore_errors=True)
            server.start(home, os.environ, timeout=600)
            server.stop(home)
            (home / _READY).touch()
    return home


def copy_studio(model: Path, home: Path) -> StudioPlaces:
    """Put a Label Studio below `home` with the accounts, the environment and the data of the one
    below `model`.
    """
    places, other = StudioPlaces(home), StudioPlaces(model)
    places.data.mkdir(parents=True, mode=0o700)
    places.env.symlink_to(other.env.resolve())
    credentials = load_credentials(other)
    assert credentials is not None
    save_credentials(
        places, credentials.with_changes(port=0)
    )  # any free one: others may be starting from the same copy
    with (
        closing(sqlite3.connect(other.data / _DATABASE)) as source,
        closing(sqlite3.connect(places.data / _DATABASE)) as target,
    ):
        source.backup(target)
    return places


def _print() -> str:
    made_by = [
        *sorted(Path(server.__file__).parent.glob("*.py")),
        Path(server.__file__).with_name("label-studio.lock"),
    ]
    content = b"".join(path.read_bytes() for path in made_by)
    return blake2b(
        content + sys.version.encode() + sys.executable.encode(), digest_size=8
    ).hexdigest()


if __name__ == "__main__":  # make test, while other things are fetched
    studio_template()
