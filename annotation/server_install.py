"""Label Studio's own environment: made by uv from a lock file, because its pins clash with callwright's."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib.resources import as_file, files
from pathlib import Path

from annotation.local_process import tail
from annotation.server_files import StudioPlaces
from warehouse.errors import AnnotationError

_STAMP = ".callwright-lock"
_TIMEOUT = 1800.0


def install(
    places: StudioPlaces,
    base_environment: Mapping[str, str],
    progress: Callable[[str], None],
    *,
    other_lock: Path | None = None,
) -> None:
    """Make the environment unless it is there; one that a crash left half made is made anew.

    `other_lock` is of another version than the one that callwright comes with.
    """
    lock = other_lock or files("annotation").joinpath("label-studio.lock")
    print_of_lock = blake2b(lock.read_bytes(), digest_size=12).hexdigest()
    stamp = places.env / _STAMP
    if places.python.exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == print_of_lock:
        return
    progress("Installing Label Studio into an environment of its own (once, one to three minutes) …")
    with as_file(lock) as path:
        _uv(places, base_environment, "venv", "--clear", "--python", sys.executable, str(places.env))
        _uv(
            places,
            base_environment,
            "pip",
            "install",
            "--python",
            str(places.python),
            "--require-hashes",
            "-r",
            str(path),
        )
    stamp.write_text(print_of_lock, encoding="utf-8")


def _uv(places: StudioPlaces, environment: Mapping[str, str], *arguments: str) -> None:
    import uv

    command = [uv.find_uv_bin(), *arguments]
    with places.install_log.open("ab") as log:
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                command,
                env=dict(environment),
                cwd=places.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AnnotationError(
                f"Installing Label Studio took longer than {_TIMEOUT:.0f} s. Check the network, then try again; "
                f"the log is {places.install_log}."
            ) from error
    if done.returncode:
        raise AnnotationError(
            f"Label Studio could not be installed (`uv {' '.join(arguments[:2])}` ended with {done.returncode}):\n"
            f"{tail(places.install_log)}\nCheck that the package index is reachable, then try again; the log is "
            f"{places.install_log}."
        )
