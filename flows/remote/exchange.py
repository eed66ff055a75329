"""The exchange: a folder under an fsspec URL, by which shards travel to workers that share no disk with the one writer.

Every object is a zip file of named members, so a half-written one is told from a whole one, and unzip shows what is in it.
"""

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

from warehouse.errors import ConfigurationError, TransientError

ZIP = ".zip"
Members = Mapping[str, bytes]


class Exchange:
    """A folder of objects under a URL such as `file:///mnt/exchange` or `s3://bucket/exchange`."""

    def __init__(self, url: str) -> None:
        """Name the folder; nothing is asked of it yet. Raises ConfigurationError where nobody knows this kind of URL."""
        import fsspec

        self.url = url.rstrip("/")
        try:
            found: tuple[Any, str] = fsspec.core.url_to_fs(self.url)  # of which class depends on the URL
        except (ValueError, ImportError) as error:
            raise ConfigurationError(
                f"CALLWRIGHT_EXCHANGE is {url!r}, which can't be used: {error}. It is a URL that fsspec knows, such as "
                "'file:///mnt/exchange' or 's3://bucket/exchange'."
            ) from error
        self._files, self._root = found

    def put(self, name: str, members: Members) -> None:
        """Keep an object under a name, in place of what was there. Raises TransientError where the place is away."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for member, body in members.items():
                archive.writestr(member, body)
        path = self._path(name)
        try:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, packed.getvalue())
        except OSError as error:
            raise self._away(error) from error

    def get(self, name: str) -> Members | None:
        """An object's members, None where there is none, or only a part of one. Raises TransientError as above."""
        try:
            packed = self._files.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._away(error) from error
        try:
            with zipfile.ZipFile(io.BytesIO(packed)) as archive:
                return {member: archive.read(member) for member in archive.namelist()}
        except (zipfile.BadZipFile, EOFError):  # whoever wrote it died over it, or is still at it
            return None

    def names(self, folder: str) -> list[str]:
        """The names of the objects in a folder and those below it, in order. Raises TransientError as above."""
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._path(folder, ""))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._away(error) from error
        start = len(self._files._strip_protocol(self._root).rstrip("/")) + 1  # noqa: SLF001 - how fsspec says "the path of"
        return sorted(path[start:].removesuffix(ZIP) for path in found if path.endswith(ZIP))

    def has(self, name: str) -> bool:
        """Whether there is an object under this name, whole or not. Raises TransientError as above."""
        self._files.invalidate_cache()
        try:
            return bool(self._files.exists(self._path(name)))
        except OSError as error:
            raise self._away(error) from error

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects; one that is gone already is no failure. Raises TransientError as above."""
        for name in names:
            try:
                self._files.rm_file(self._path(name))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._away(error) from error

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that is in it; one that is gone already is no failure. Raises TransientError as above."""
        self._files.invalidate_cache()
        try:
            self._files.rm(self._path(name, ""), recursive=True)
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._away(error) from error

    def _path(self, name: str, suffix: str = ZIP) -> str:
        return f"{self._root.rstrip('/')}/{name}{suffix}"

    def _away(self, error: OSError) -> TransientError:
        return TransientError(f"The exchange {self.url} can't be reached: {error}.")
