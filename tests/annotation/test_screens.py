from xml.etree import ElementTree as ET

import pytest

from annotation.screens import REVIEW_KINDS, Screen, screen_for
from annotation.studio_questions import table_of
from annotation.task import review_task
from warehouse.errors import ConfigurationError

SAFE_TAGS = {"View", "Style", "Header", "Choices", "Choice", "Text", "TextArea", "Paragraphs", "Collapse", "Panel"}


def _tree(screen: Screen) -> ET.Element:
    return ET.fromstring(screen.config)  # noqa: S314 - our own file


def _controls(language: str) -> list[tuple[str | None, ...]]:
    tree = _tree(screen_for("sample_review", language))
    kept = ("name", "alias", "hotkey", "toName", "choice", "required")
    return [
        tuple(element.get(name) for name in kept) for element in tree.iter() if element.tag in ("Choices", "Choice")
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_a_screen_uses_only_tags_that_show_text_as_text(kind, language):
    tree = _tree(screen_for(kind, language))
    assert {element.tag for element in tree.iter()} <= SAFE_TAGS


@pytest.mark.parametrize("language", ["en", "zh"])
def test_whatever_the_screen_shows_is_in_the_task(language, sample, tools, verdicts):
    tree = _tree(screen_for("sample_review", language))
    shown = {value[1:] for element in tree.iter() if (value := element.get("value", "")).startswith("$")}
    assert shown
    assert shown <= set(review_task(sample, tools, verdicts, reason="-").data())


def test_answers_mean_the_same_in_both_languages():
    assert _controls("en") == _controls("zh")


def test_no_hotkey_is_given_twice():
    keys = [control[2] for control in _controls("en") if control[2]]
    assert keys == [str(number) for number in range(1, 10)]


def test_the_verdict_is_the_first_control_of_the_screen():
    tree = _tree(screen_for("sample_review"))
    assert next(element for element in tree.iter() if element.get("toName")).get("name") == "verdict"


def test_a_conditional_part_waits_for_a_choice_that_exists():
    for language in ("en", "zh"):
        tree = _tree(screen_for("sample_review", language))
        choices = {element.get("value") for element in tree.iter("Choice")}
        awaited = {element.get("whenChoiceValue") for element in tree.iter() if element.get("whenChoiceValue")}
        assert len(awaited) == 2
        assert awaited <= choices


def test_an_unknown_review_kind_is_answered_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="'nonsense'; the kinds are sample_review"):
        screen_for("nonsense")


def test_the_table_of_tasks_hides_what_no_person_reads(sample, tools):
    screen = screen_for("sample_review")
    fields = set(review_task(sample, tools, [], reason="-").data())
    assert set(screen.hidden_columns) < fields
    assert {"title", "request", "why", "failed"} <= fields - set(screen.hidden_columns)
    told = table_of(screen)
    assert "tasks:data.conversation" in told["hiddenColumns"]["explore"]
    assert "tasks:data.callwright_key" in told["hiddenColumns"]["labeling"]
    assert "tasks:data.request" not in told["hiddenColumns"]["explore"]
