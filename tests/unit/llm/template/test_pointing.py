"""Pointing at a message: what is written is found again, and read as if the value had been said."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.external.entities import apps
from callwright.language.calls.tools import ToolView
from callwright.language.dates import find_times
from callwright.llm.template.messages import (
    book_of,
    find_pointer,
    resolve_pointers,
    reword_request,
    word_pronoun,
)
from callwright.llm.template.reading import read_values
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.sentences import word_request
from callwright.warehouse.records import JsonSchema, Language
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: ToolView(tool.signature) for tool in TOOLS}
APPS = tuple(apps())
CUES = {"en": "pickup point", "es": "punto de recogida", "zh": "上车地点"}
SEEDS = st.integers(0, 10_000)
LANGUAGES: tuple[Language, ...] = ("en", "es", "zh")


def sections(**shown: object) -> Sections:
    return Sections(
        {name: json.dumps(value, ensure_ascii=False) for name, value in shown.items()}, None
    )


def shown(schema: JsonSchema, description: str, entity: str, app: str, **more: object) -> Sections:
    parameter = {"name": "code", "schema": {**schema, "description": description}}
    return sections(parameter=parameter, entity={"kind": entity}, app={"key": app}, **more)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_words_for_each_app(language: Language) -> None:
    book = book_of(language)
    assert [*book.told] == [*book.mentioned] == [*book.channels] == [*book.forms] == [*APPS]


@pytest.mark.parametrize("language", LANGUAGES)
@given(
    entity=st.sampled_from(["location", "id_number", "time", "person"]),
    app=st.sampled_from(APPS),
    seed=SEEDS,
)
def test_a_sentence_that_points_is_found_among_others(
    language: Language, entity: str, app: str, seed: int
) -> None:
    before, after, stop = {
        "en": ("Get me a car! ", " Thanks.", "."),
        "es": ("Pide un coche. ", " Gracias.", "."),
        "zh": ("叫辆车吧。", "谢谢。", "。"),
    }[language]
    asked = shown({"type": "string"}, CUES[language], entity, app, avoid=[])
    phrase = f"{word_pronoun(asked, language, Random(seed))['phrase']}{stop}"
    pointer = find_pointer(f"{before}{phrase}{after}")
    assert pointer == (len(before), len(before) + len(phrase), CUES[language], True)


@pytest.mark.parametrize(
    ("tool", "said", "message", "read"),
    [
        (
            "Dining.Tables.bookTable",
            "Book a table for 4 guests at the time in my sister's text message.",
            "Hi! I asked the others again. It starts at half past seven in the evening. See you!",
            {"guests": 4, "time": "19:30"},
        ),
        (
            "Dining.Tables.cancelTable",
            "Cancel a table that was booked. Ben emailed me the booking number. Thanks!",
            "Hello,\n\nAs promised, the booking number: TB-40213.\n\nKind regards",
            {"booking_id": "TB-40213"},
        ),
        (
            "Travel.Trains.findTrains",
            "查询列车车次。到达城市：杭州。我姐在短信里提到了出发城市。",
            "跟你说一声，出发城市是成都，别忘了。",
            {"origin": "成都", "destination": "杭州"},
        ),
    ],
)
def test_a_message_gives_the_argument_that_is_pointed_at_and_nothing_else(
    tool: str, said: str, message: str, read: dict[str, object]
) -> None:
    assert read_values(VIEWS[tool], [Turn("user", said), Turn("message", message)]) == read


def test_a_message_that_nobody_points_at_stays() -> None:
    turns = [
        Turn("user", "Book a table."),
        Turn("message", "It starts at 7 pm."),
        Turn("assistant", "Where?"),
    ]
    assert resolve_pointers(turns) == turns


def reworded(said: str, **more: object) -> str:
    prompt = {"phrase": "Ben texted me the time of arrival", "question": "", "kept": [], **more}
    asked = sections(
        tool=TOOLS[0].signature, said=said, parameter={"name": "time", "schema": {}}, **prompt
    )
    return str(reword_request(asked, "en", Random(3))["request"])


def test_a_request_is_worded_without_the_value() -> None:
    view = VIEWS["Dining.Tables.bookTable"]
    said = word_request(view, {"restaurant": "Blue Door", "time": "12:00"}, "en", Random(1)).request
    text = reworded(said)
    assert text.endswith('Restaurant: "Blue Door". Ben texted me the time of arrival.')
    assert not find_times(text)
