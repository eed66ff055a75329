"""Settings: what the environment says, and how much of the machine DuckDB may take."""

import os
import re
from math import isfinite
from pathlib import Path

import pytest

from callwright.flows.settings import Settings, open_warehouse, private_folder, read_settings
from callwright.llm.ledger import open_answers
from callwright.warehouse.errors import ConfigurationError, StoreError

LIMITS = "select current_setting('memory_limit') as memory, current_setting('threads') as threads"


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


def test_nothing_is_published_of_a_work_folder_that_is_thrown_away(tmp_path: Path) -> None:
    aside = read_settings().aside(tmp_path)
    assert (aside.home, aside.publish_every) == (tmp_path, 0)


def test_duckdb_holds_to_the_memory_and_threads_of_the_settings(tmp_path: Path) -> None:
    stated = {"CALLWRIGHT_DUCKDB_MEMORY": "1.5 GB", "CALLWRIGHT_DUCKDB_THREADS": "3"}
    assert open_warehouse(read_settings(stated, home=tmp_path)).rows(LIMITS) == [
        {"memory": "1.3 GiB", "threads": 3}
    ]


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


def test_a_new_work_folder_is_for_its_user_alone(tmp_path: Path) -> None:
    open_answers(tmp_path / "home" / "ledger.sqlite").close()
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
