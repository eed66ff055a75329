"""What agents name and what they are answered: no path leads out, no answer is too long."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.flows.agents.answers import MOST_CHARACTERS, FoundRows, shortened
from callwright.flows.agents.folder import AgentFolder
from callwright.warehouse.errors import ConfigurationError

PARTS = st.sampled_from(
    ["..", ".", "", "/", "~", "a", "b.yaml", "out", ".git", "a\0", "…", "x" * 300]
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder, a file, and a link to what lies beside it."""
    place = tmp_path_factory.mktemp("agent").resolve()
    (place / "work" / "a").mkdir(parents=True)
    (place / "work" / "b.yaml").write_text("name: b", encoding="utf-8")
    (place / "beside").mkdir()
    (place / "work" / "out").symlink_to(place / "beside")
    return place / "work"


@given(parts=st.lists(PARTS, max_size=6), begins=st.booleans())
def test_a_path_is_below_the_folder_or_refused(root: Path, parts: list[str], begins: bool) -> None:
    stated = f"{'/' if begins else ''}{'/'.join(parts)}"
    try:
        found = AgentFolder(root).path(stated)
    except ConfigurationError:
        return
    assert not found.is_absolute()
    assert (root / found).resolve().is_relative_to(root)
    assert not any(part.startswith(".") for part in found.parts)


@given(st.text(max_size=30))
def test_any_text_is_a_path_below_the_folder_or_refused(root: Path, stated: str) -> None:
    try:
        found = AgentFolder(root).path(stated)
    except ConfigurationError:
        return
    assert (root / found).resolve().is_relative_to(root)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20).map(lambda one: one * 300),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=20,
)


@given(st.lists(st.lists(JSON, max_size=5), max_size=40))
def test_an_answer_is_short_and_says_what_it_lacks(rows: list[list[Any]]) -> None:
    answer = shortened(FoundRows(columns=["a"], rows=rows, has_more=False))
    assert len(json.dumps(answer, ensure_ascii=False)) < MOST_CHARACTERS * 1.2
    assert len(answer["rows"]) == len(rows) or answer["shortened"]


def test_one_row_that_is_too_long_is_refused_with_what_to_do() -> None:
    wide = FoundRows(columns=["a"], rows=[["word"] * 9000], has_more=False)
    with pytest.raises(ConfigurationError, match="Ask for less"):
        shortened(wide)
    texts = shortened(FoundRows(columns=["a"], rows=[["word" * 900] * 90], has_more=False))
    assert len(texts["rows"][0]) == 90
