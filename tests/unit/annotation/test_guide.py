"""The annotator's guide, the screens and the instructions inside Label Studio say the same."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from callwright.annotation.screens import (
    REVIEW_KINDS,
    interface_languages,
    screen_for,
    screen_words,
)

DOCS = Path(__file__).parents[3] / "docs"
GUIDE = (DOCS / "annotating.md").read_text(encoding="utf-8")
PICTURES = re.findall(r"!\[[^]]+\]\((images/[^)]+)\)", GUIDE)
MOST_BYTES = 150_000
SIZE = (1366, 768)


def _section(kind: str) -> str:
    title = screen_words(kind, "en").title
    return GUIDE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _choices(kind: str, control: str, language: str = "en") -> list[tuple[str, str]]:
    """The keys and words of the choices of a control."""
    tree = ET.fromstring(screen_for(kind, language).config)  # noqa: S314 - our own file
    [found] = [element for element in tree.iter("Choices") if element.get("name") == control]
    return [(choice.get("hotkey", ""), choice.get("value", "")) for choice in found.iter("Choice")]


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_guide_has_a_section_with_a_picture_for_every_review_kind(kind: str) -> None:
    assert f"(images/review-{kind}.en.png)" in _section(kind)
    assert f"(images/review-{kind}.zh.png)" in GUIDE


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_guide_names_every_key_and_what_it_means(kind: str) -> None:
    rows = dict(re.findall(r"^\| (\d) \| ([^|]+) \|$", _section(kind), re.MULTILINE))
    told = [*_choices(kind, "verdict"), *_choices(kind, "reasons")]
    assert list(rows) == [key for key, _ in told]
    for key, words in told:
        assert rows[key].startswith(words), f"{kind}: key {key} is {words!r}, not {rows[key]!r}"


@pytest.mark.parametrize("language", interface_languages())
@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_instruction_names_every_verdict_and_the_keys_of_the_reasons(
    kind: str, language: str
) -> None:
    instruction = " ".join(screen_for(kind, language).instruction.split())
    for key, words in _choices(kind, "verdict", language):
        assert f"<b>{key} {words}</b>" in instruction
    keys = [key for key, _ in _choices(kind, "reasons", language)]
    span = {
        "en": f"({keys[0]} to {keys[-1]})",
        "zh": f"（{keys[0]} 到 {keys[-1]}）",
        "es": f"({keys[0]} a {keys[-1]})",
    }
    assert span[language] in instruction
    for key in ("Ctrl+Enter", "Shift+Enter"):
        assert f"<b>{key}</b>" in instruction


@pytest.mark.parametrize("picture", PICTURES)
def test_every_picture_is_there_and_small(picture: str) -> None:
    shot = (DOCS / picture).read_bytes()
    assert shot.startswith(b"\x89PNG")
    size = (int.from_bytes(shot[16:20], "big"), int.from_bytes(shot[20:24], "big"))
    assert size == SIZE if "/review-" in picture else size < SIZE  # a word is a part of a screen
    assert len(shot) < MOST_BYTES
