from pathlib import Path

import pytest

from callwright.annotation.studio.server import (
    StudioPlaces,
    load_credentials,
    new_credentials,
    save_credentials,
)
from callwright.warehouse.errors import AnnotationError


@pytest.fixture
def places(tmp_path: Path) -> StudioPlaces:
    places = StudioPlaces(tmp_path)
    places.folder.mkdir()
    return places


def test_credentials_are_for_their_owner_only_and_come_back_as_kept(places):
    assert load_credentials(places) is None
    made = new_credentials().with_changes(port=4711)
    save_credentials(places, made)
    assert places.credentials.stat().st_mode & 0o777 == 0o600
    assert load_credentials(places) == made
    assert len(made.token) == 40
    assert new_credentials().password != made.password


def test_damaged_credentials_are_an_error_that_says_what_to_do(places):
    places.credentials.write_text("{", encoding="utf-8")
    with pytest.raises(AnnotationError, match=r"credentials\.json is damaged .* Restore it"):
        load_credentials(places)
