"""The files of a local Label Studio, and who may sign in to it."""

import os
import secrets
from pathlib import Path

from annotation.local_process import Places
from warehouse.errors import AnnotationError
from warehouse.records import Record

_USERNAME = "callwright@localhost.local"


class Credentials(Record):
    """The account that callwright made for itself, and the port that it was served on last."""

    username: str
    password: str
    token: str
    port: int = 0


class StudioPlaces(Places):
    """Where things lie below the folder of a local Label Studio."""

    def __init__(self, home: Path) -> None:
        """Name the places below the work folder; nothing is made."""
        super().__init__(home / "label-studio", "Label Studio")
        self.env = self.folder / "env"
        self.install_log = self.folder / "install.log"
        self.credentials = self.folder / "credentials.json"

    @property
    def python(self) -> Path:
        """The interpreter of the environment that Label Studio runs in."""
        return self.env / "bin" / "python"


def load_credentials(places: StudioPlaces) -> Credentials | None:
    """The account kept on disk, None before the first start."""
    if not places.credentials.is_file():
        return None
    try:
        return Credentials.model_validate_json(places.credentials.read_bytes())
    except ValueError as error:
        raise AnnotationError(
            f"{places.credentials} is damaged ({type(error).__name__}). Restore it, or delete {places.folder} to start "
            "anew without the annotations in it."
        ) from error


def new_credentials() -> Credentials:
    """An account with a random password and a random token."""
    return Credentials(username=_USERNAME, password=secrets.token_urlsafe(12), token=secrets.token_hex(20))


def save_credentials(places: StudioPlaces, credentials: Credentials) -> None:
    """Keep the account where only its owner can read it."""
    draft = places.credentials.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(credentials.model_dump_json(indent=2))
    draft.replace(places.credentials)
