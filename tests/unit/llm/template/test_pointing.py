"""Pointing at a message: what is written is found again, and read as if the value had been said."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.external.entities import apps
from callwright.language.calls.parameters import entity_of
from callwright.language.calls.tools import ToolView
from callwright.language.dates import find_times
from callwright.language.packs import of
from callwright.language.values import locate
from callwright.llm.template.messages import (
    book_of,
    find_message_value,
    find_pointer,
    name_entities,
    noun_class,
    resolve,
    resolve_pointers,
    reword_request,
    simulate_message,
    word_pronoun,
)
from callwright.llm.template.reading import read_values
from callwright.llm.template.sections import Sections, Turn
from callwright.llm.template.sentences import word_request
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: ToolView(tool.signature) for tool in TOOLS}
APPS = tuple(apps())
CUES = {"en": "pickup point", "es": "punto de recogida", "zh": "上车地点"}
DATE: JsonSchema = {"type": "string", "format": "date"}
CLOCK: JsonSchema = {"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}
MOMENT: JsonSchema = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}
VALUES: tuple[tuple[str, JsonSchema, str], ...] = (
    ("time", DATE, "2027-03-04"),
    ("time", CLOCK, "19:30"),
    ("time", MOMENT, "2027-03-04 07:15"),
    ("id_number", {"type": "string"}, "RD10733"),
    ("plate", {"type": "string"}, "ABC-1234"),
    ("person", {"type": "string"}, "Ada Wu"),
    ("location", {"type": "string"}, "12 Harbor Road, Leeds"),
    ("location", {"type": "string"}, "老码头"),
    ("company", {"type": "string"}, "El Molino Viejo"),
)
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


@given(seed=SEEDS, app=st.sampled_from(APPS))
def test_nobody_is_named_who_is_spoken_of_already(seed: int, app: str) -> None:
    names = [name for name in of("en").data["values"]["first_names"] if name not in {"Ben", "Rosa"}]
    phrase = word_pronoun(
        shown({}, "pickup point", "location", app, avoid=names), "en", Random(seed)
    )["phrase"]
    assert not any(name in str(phrase).split() for name in names)


@pytest.mark.parametrize("language", LANGUAGES)
@given(which=st.sampled_from(VALUES), app=st.sampled_from(APPS), seed=SEEDS)
def test_a_value_is_found_in_its_message(
    language: Language, which: tuple[str, JsonSchema, str], app: str, seed: int
) -> None:
    entity, schema, value = which
    message = simulate_message(
        shown(schema, CUES[language], entity, app, value=value), language, Random(seed)
    )
    assert str(message["words"]) in str(message["message"])
    assert locate(value, schema, find_message_value(str(message["message"]), "number")) is not None


def test_the_article_of_a_name_goes_by_its_gender() -> None:
    phrases = [
        str(word_pronoun(shown({}, called, "time", "sms", avoid=[]), "es", Random(1))["phrase"])
        for called in (
            "fecha de la reserva",
            "hora del aviso",
            "número de viaje",
            "día de salida",
            "nueva dirección",
        )
    ]
    articles = ("la fecha", "la hora", "el número", "el día", "la nueva dirección")
    assert all(one in phrase for one, phrase in zip(articles, phrases, strict=True))


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


def test_an_answer_may_be_nothing_but_the_sentence() -> None:
    turns = [
        Turn("user", "Book a table for 4 guests."),
        Turn("assistant", "Which restaurant would you like?"),
        Turn("user", "The restaurant is the one my uncle sent me in our chat."),
        Turn("message", "Found it! The restaurant: The Olive Tree 😊 let me know if that helps"),
    ]
    read = read_values(VIEWS["Dining.Tables.bookTable"], turns)
    assert read == {"restaurant": "The Olive Tree", "guests": 4}


@pytest.mark.parametrize(
    ("said", "message", "told"),
    [
        (
            "查一下Tom发给我的短信里提到的车牌号在广州的违章记录。",
            "尊敬的车主，您的车辆（车牌号：粤B6789X）已成功通过年检。请妥善保管相关证件。",
            "粤B6789X",
        ),
        (
            "The license plate number mentioned in Tom's text message to me",
            (
                "Dear Driver, Your vehicle (license plate: ABC-1234) has passed the inspection."
                " Enjoy your trip!"
            ),
            "ABC-1234",
        ),
    ],
)
def test_other_peoples_phrases_are_understood_too(said: str, message: str, told: str) -> None:
    assert told in resolve(said, message)


def test_a_message_that_nobody_points_at_stays() -> None:
    turns = [
        Turn("user", "Book a table."),
        Turn("message", "It starts at 7 pm."),
        Turn("assistant", "Where?"),
    ]
    assert resolve_pointers(turns) == turns


def test_two_times_far_apart_are_not_taken_for_one() -> None:
    assert (
        find_message_value("Come at 7 pm, and if that is too early for you then at 9 pm.", "time")
        == ""
    )


@pytest.mark.parametrize(
    ("noun", "kind"),
    [
        ("day", "clock"),
        ("order number", "code"),
        ("spot", "name"),
        ("车牌号", "code"),
        ("日期", "clock"),
    ],
)
def test_a_noun_tells_what_to_look_for(noun: str, kind: str) -> None:
    assert noun_class(noun) == kind


@pytest.mark.parametrize(
    ("name", "schema", "entity"),
    [
        ("pickup", {"type": "string", "description": "pickup point"}, "location"),
        ("due", {"type": "string", "format": "date"}, "time"),
        ("plate_number", {"type": "string"}, "plate"),
        ("order_id", {"type": "string", "pattern": r"^SO\d{6}$"}, "id_number"),
        ("singer", {"type": "string"}, "singer"),
        ("song", {"type": "string", "description": "歌曲名"}, "song"),
        ("restaurant", {"type": "string"}, "company"),
        ("recipient", {"type": "string"}, "person"),
    ],
)
def test_a_parameter_tells_what_entity_it_holds(name: str, schema: JsonSchema, entity: str) -> None:
    assert entity_of(name, schema) == entity


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("phone", {"type": "string"}),
        ("note", {"type": "string", "description": "note to the driver"}),
        ("seat", {"type": "string", "enum": ["aisle"]}),
        ("guests", {"type": "integer"}),
        ("amount", {"type": "string"}),
    ],
)
def test_other_parameters_hold_no_entity(name: str, schema: JsonSchema) -> None:
    assert entity_of(name, schema) is None


def reworded(said: str, **more: object) -> str:
    prompt = {"phrase": "Ben texted me the time of arrival", "question": "", "kept": [], **more}
    asked = sections(
        tool=TOOLS[0].signature, said=said, parameter={"name": "time", "schema": {}}, **prompt
    )
    return str(reword_request(asked, "en", Random(3))["request"])


def test_an_answer_is_nothing_but_the_sentence() -> None:
    assert reworded("At noon.", question="When?") == "Ben texted me the time of arrival."


def test_a_request_is_worded_without_the_value() -> None:
    view = VIEWS["Dining.Tables.bookTable"]
    said = word_request(view, {"restaurant": "Blue Door", "time": "12:00"}, "en", Random(1)).request
    text = reworded(said)
    assert text.endswith('Restaurant: "Blue Door". Ben texted me the time of arrival.')
    assert not find_times(text)


def test_what_can_not_be_worded_without_the_value_is_refused() -> None:
    with pytest.raises(ReplyError, match="without its 'time'"):
        reworded("Noon it is, as always.")
    with pytest.raises(ReplyError, match="without its 'time'"):
        reworded(
            "At noon, and two of us.",
            question="When?",
            kept=[{"parameter": "guests", "words": "two"}],
        )


def test_a_prompt_that_lacks_a_section_is_refused_by_name() -> None:
    with pytest.raises(ReplyError, match="<arguments>"):
        name_entities(sections(arguments={"a": 1}))
    with pytest.raises(ReplyError, match="<parameter>"):
        word_pronoun(sections(parameter=[], avoid=[]), "en", Random(1))
    with pytest.raises(ReplyError, match="<entity>"):
        simulate_message(
            sections(parameter={"name": "a", "schema": {}}, value="b", entity=1), "en", Random(1)
        )
