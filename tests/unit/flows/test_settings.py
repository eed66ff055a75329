"""Settings: what the environment says, and how much of the machine DuckDB may take."""

import os
import re
from math import isfinite
from pathlib import Path

import pytest

from callwright.flows.settings import Settings, private_folder, read_settings
from callwright.warehouse.errors import ConfigurationError, StoreError


def test_duckdb_takes_a_quarter_of_the_machine_and_at_most_4_gb_unless_told() -> None:
    settings = read_settings({})
    assert 128 <= settings.duckdb_memory_mb <= 4000
    assert settings.duckdb_threads >= 1


def test_what_the_environment_does_not_say_is_as_settings_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in os.environ if name.startswith("CALLWRIGHT_")]:
        monkeypatch.delenv(name)
    found, usual = read_settings()._asdict(), Settings._field_defaults
    assert {name: found[name] for name in usual} == usual
    assert isfinite(found["patience"])


@pytest.mark.parametrize("given", ["much", "12MB", "-1GB", "1TB"])
def test_a_duckdb_memory_that_is_no_size_is_refused(given: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(repr(given))):
        read_settings({"CALLWRIGHT_DUCKDB_MEMORY": given})


def test_a_private_folder_is_this_users_and_for_nobody_else(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "own")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert private_folder(folder).stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(StoreError, match="belongs to another user"):
        private_folder(tmp_path / "link")


def test_a_folder_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getuid", lambda: 54321)
    with pytest.raises(StoreError, match="CALLWRIGHT_SCRATCH"):
        private_folder(tmp_path)
