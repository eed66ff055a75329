from xml.etree import ElementTree as ET

import pytest

from callwright.annotation.reviews import TaskQueue
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import REVIEW_KINDS, Screen, interface_languages, screen_for
from callwright.annotation.studio.projects import tables_of
from callwright.language.packs import packaged
from callwright.warehouse.errors import ConfigurationError

SAFE_TAGS = {
    "View",
    "Style",
    "Header",
    "Choices",
    "Choice",
    "Text",
    "TextArea",
    "Paragraphs",
    "Collapse",
    "Panel",
    "Repeater",
}


def _tree(screen: Screen) -> ET.Element:
    return ET.fromstring(screen.config)  # noqa: S314 - our own file


def _controls(kind: str, language: str = "en") -> list[tuple[str | None, ...]]:
    tree = _tree(screen_for(kind, language))
    kept = ("name", "alias", "hotkey", "toName", "choice", "required")
    return [
        tuple(element.get(name) for name in kept)
        for element in tree.iter()
        if element.tag in ("Choices", "Choice")
    ]


@pytest.mark.parametrize("language", interface_languages())
@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_a_screen_uses_only_tags_that_show_text_as_text(kind, language):
    tree = _tree(screen_for(kind, language))
    assert {element.tag for element in tree.iter()} <= SAFE_TAGS


@pytest.mark.parametrize("language", interface_languages())
def test_whatever_the_screen_shows_is_in_the_task(language, sample, tools, verdicts):
    tree = _tree(screen_for("sample_review", language))
    values = [element.get("value") or element.get("on", "") for element in tree.iter()]
    shown = {value[1:].partition("[")[0] for value in values if value.startswith("$")}
    assert shown >= {"conversation", "rows"}
    assert shown <= set(review_task(sample, tools, verdicts, reason="-").data())


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_the_hotkeys_are_the_digits_in_their_order_each_once(kind):
    keys = [control[2] for control in _controls(kind) if control[2]]
    assert len(keys) >= 5
    counted = [key for key in keys if key != "0"]  # taking the reading
    assert counted == [str(number) for number in range(1, len(counted) + 1)]
    assert len(set(keys)) == len(keys)
    assert len(counted) <= 9


@pytest.mark.parametrize("language", interface_languages())
@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_a_conditional_part_waits_for_a_choice_that_exists(kind, language):
    tree = _tree(screen_for(kind, language))
    choices = {element.get("value") for element in tree.iter("Choice")}
    awaited = {
        element.get("whenChoiceValue") for element in tree.iter() if element.get("whenChoiceValue")
    }
    assert awaited
    assert awaited <= choices


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_every_control_is_about_something_that_the_screen_shows(kind):
    tree = _tree(screen_for(kind))
    names = {
        element.get("name") for element in tree.iter() if element.tag in ("Text", "Paragraphs")
    }
    assert {element.get("toName") for element in tree.iter() if element.get("toName")} <= names


def test_an_unknown_review_kind_is_answered_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="'nonsense'; the kinds are sample_review"):
        screen_for("nonsense")


def test_the_tables_of_tasks_hides_what_no_person_reads(sample, tools):
    screen = screen_for("sample_review")
    fields = set(review_task(sample, tools, [], reason="-").data())
    assert set(screen.hidden_columns) < fields
    assert {"title", "request", "why", "failed"} <= fields - set(screen.hidden_columns)
    unanswered, answered = tables_of(screen)
    assert unanswered["hiddenColumns"] == answered["hiddenColumns"]
    assert "tasks:data.conversation" in unanswered["hiddenColumns"]["explore"]
    assert "tasks:annotators" in unanswered["hiddenColumns"]["explore"]
    assert "tasks:data.callwright_key" in unanswered["hiddenColumns"]["labeling"]
    assert "tasks:data.request" not in unanswered["hiddenColumns"]["explore"]


def test_a_queue_is_a_table_of_its_languages_and_a_persons_of_what_they_have_not_answered():
    queues = [
        TaskQueue("Chinese", ("zh",)),
        TaskQueue("a@b.c", ("en", "es"), ("perfect",), "a@b.c"),
        TaskQueue("x", (), (), "x"),
    ]
    _, _, chinese, own = tables_of(screen_for("sample_review"), queues, {"a@b.c": 7})
    assert [table["title"] for table in (chinese, own)] == ["Chinese", "a@b.c"]
    assert [(one["filter"], one["value"]) for one in chinese["filters"]["items"]] == [
        ("filter:tasks:total_annotations", 0),
        ("filter:tasks:data.language", "^(zh)$"),
    ]
    assert [(one["filter"], one["operator"], one["value"]) for one in own["filters"]["items"]] == [
        ("filter:tasks:completed_at", "empty", "true"),
        ("filter:tasks:annotators", "not_contains", 7),
        ("filter:tasks:data.language", "regex", "^(en|es)$"),
        ("filter:tasks:data.sample_kind", "regex", "^(perfect)$"),
    ]


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_each_language_has_words_for_the_same_things(kind):
    english, *others = (
        packaged("callwright.annotation.configs", f"{kind}.{one}.yaml")
        for one in interface_languages()
    )
    for other in others:
        # Spanish and Chinese tell what was drawn as the question does; English doubts stand at
        # their checks.
        assert other.keys() ^ english.keys() <= {"drawn", "doubt"}
