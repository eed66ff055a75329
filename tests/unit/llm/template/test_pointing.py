"""Pointing at a message: what the grammar writes, it finds again, and reads as if the value had been said."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.language.calls.parameters import entity_of
from callwright.language.calls.tools import ToolView
from callwright.language.packs import of
from callwright.language.values import locate
from callwright.llm.template.baseline import read_values
from callwright.llm.template.messages import (
    Pointed,
    book_of,
    find_message_value,
    find_pointer,
    name_entities,
    noun_class,
    noun_key,
    resolve,
    resolve_pointers,
    reword_request,
    simulate_message,
    word_pointer,
    word_pronoun,
    write_message,
)
from callwright.llm.template.sections import Sections, Turn
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import JsonSchema, Language
from tests.support.llm.template.fixtures import TOOLS

VIEWS = {tool.name: ToolView(tool.signature) for tool in TOOLS}
KEYS = tuple(book_of("en").nouns)
APPS = (*book_of("en").where, "carrier_pigeon")
CUES = {"en": "pickup point", "es": "punto de recogida", "zh": "上车地点"}
VALUES: dict[str, tuple[JsonSchema, str]] = {
    "date": ({"type": "string", "format": "date"}, "2027-03-04"),
    "time": ({"type": "string", "pattern": r"^([01]\d|2[0-3]):[0-5]\d$"}, "19:30"),
    "moment": ({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2} ([01]\d|2[0-3]):[0-5]\d$"}, "2027-03-04 07:15"),
    "id_number": ({"type": "string"}, "RD10733"),
    "plate": ({"type": "string"}, "ABC-1234"),
}
PARTS = ["Blue", "Old Mill", "Harbor", "Velvet", "Linden", "Garden"]
NAMES: dict[Language, st.SearchStrategy[str]] = {
    "en": st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(" ".join),
    "es": st.lists(st.sampled_from(["Azul", "Molino Viejo", "Puerto", "Jardín"]), min_size=1, max_size=3).map(" ".join),
    "zh": st.text(alphabet="山海云星林溪桥园茶竹", min_size=2, max_size=5),
}  # fmt: skip
SEEDS = st.integers(0, 10_000)
LANGUAGES: tuple[Language, ...] = ("en", "es", "zh")


def test_all_languages_have_words_for_the_same_things() -> None:
    assert set(book_of("en").nouns) == set(book_of("zh").nouns) == set(book_of("es").nouns)
    assert set(book_of("en").where) == set(book_of("zh").where) == set(book_of("es").where)


@pytest.mark.parametrize("language", LANGUAGES)
@given(key=st.sampled_from(KEYS), app=st.sampled_from(APPS), seed=SEEDS)
def test_a_phrase_is_found_to_the_letter(language: Language, key: str, app: str, seed: int) -> None:
    phrase = word_pointer(Pointed(key, app, CUES[language]), "", [], language, Random(seed))
    before, after = {
        "en": ("The pickup is ", ", please."),
        "es": ("La recogida es ", ", por favor."),
        "zh": ("上车就在", "，谢谢。"),
    }[language]
    pointer = find_pointer(f"{before}{phrase}{after}")
    assert pointer is not None
    assert (pointer.start, pointer.end) == (len(before), len(before) + len(phrase))


@given(seed=SEEDS, app=st.sampled_from(APPS))
def test_nobody_is_named_who_is_spoken_of_already(seed: int, app: str) -> None:
    names = [name for name in of("en").data["values"]["first_names"] if name not in {"Ben", "Rosa"}]
    phrase = word_pointer(Pointed("location", app, ""), "", names, "en", Random(seed))
    assert not any(name in phrase.split() for name in names)


@pytest.mark.parametrize("language", LANGUAGES)
@given(key=st.sampled_from(tuple(VALUES)), app=st.sampled_from(APPS), seed=SEEDS)
def test_a_typed_value_is_found_in_its_message(language: Language, key: str, app: str, seed: int) -> None:
    schema, value = VALUES[key]
    message = write_message(Pointed(key, app, "number"), value, schema, language, Random(seed))
    assert message.words in message.text
    assert locate(value, schema, find_message_value(message.text, key)) is not None


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data(), key=st.sampled_from(sorted(set(KEYS) - set(VALUES))), app=st.sampled_from(APPS), seed=SEEDS)
def test_a_name_is_found_in_its_message(language: Language, data: st.DataObject, key: str, app: str, seed: int) -> None:
    value = data.draw(NAMES[language])
    message = write_message(Pointed(key, app, "name"), value, {"type": "string"}, language, Random(seed))
    assert find_message_value(message.text, key) == value


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
            "Cancel a table. The booking number is the code from the email Tom sent me.",
            "Hello,\n\nThank you for your trust. For your records: TB-40213. Call me.\n\nBest wishes",
            {"booking_id": "TB-40213"},
        ),
        (
            "Travel.Trains.findTrains",
            "查询列车车次，出发城市是我姐短信里说的城市，到达城市是杭州。",
            "你好！我们商量了好久。我们最后决定去成都。替我向家里人问好。",
            {"origin": "成都", "destination": "杭州"},
        ),
    ],
)
def test_a_message_gives_the_argument_that_is_pointed_at_and_nothing_else(
    tool: str, said: str, message: str, read: dict[str, object]
) -> None:
    assert read_values(VIEWS[tool], [Turn("user", said), Turn("message", message)]) == read


def test_an_answer_may_be_nothing_but_the_phrase() -> None:
    turns = [
        Turn("user", "Book a table for 4 guests."), Turn("assistant", "Which restaurant would you like?"),
        Turn("user", "The restaurant in my uncle's chat message."), Turn("message", "I can only recommend The Olive Tree. Enjoy!"),
    ]  # fmt: skip
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
            "Dear Driver, Your vehicle (license plate: ABC-1234) has passed the inspection. Enjoy your trip!",
            "ABC-1234",
        ),
    ],
)
def test_other_peoples_phrases_are_understood_too(said: str, message: str, told: str) -> None:
    assert told in resolve(said, message)


def test_a_message_that_nobody_points_at_stays() -> None:
    turns = [Turn("user", "Book a table."), Turn("message", "It starts at 7 pm."), Turn("assistant", "Where?")]
    assert resolve_pointers(turns) == turns


def test_two_times_far_apart_are_not_taken_for_one() -> None:
    assert find_message_value("Come at 7 pm, and if that is too early for you then at 9 pm.", "time") == ""


@pytest.mark.parametrize(
    ("noun", "kind"), [("day", "clock"), ("agreed date and time", "clock"), ("order number", "code"), ("spot", "name"),
                       ("车牌号", "code"), ("那首歌", "name"), ("钟点", "clock")],
)  # fmt: skip
def test_a_noun_tells_what_to_look_for(noun: str, kind: str) -> None:
    assert noun_class(noun) == kind


@pytest.mark.parametrize(
    ("name", "schema", "entity", "key"),
    [
        ("pickup", {"type": "string", "description": "pickup point"}, "location", "location"),
        ("city", {"type": "string"}, "location", "city"),
        ("due", {"type": "string", "format": "date"}, "time", "date"),
        ("plate_number", {"type": "string"}, "plate", "plate"),
        ("order_id", {"type": "string", "pattern": r"^SO\d{6}$"}, "id_number", "id_number"),
        ("singer", {"type": "string"}, "singer", "singer"),
        ("song", {"type": "string", "description": "歌曲名"}, "song", "song"),
        ("restaurant", {"type": "string"}, "company", "company"),
        ("recipient", {"type": "string"}, "person", "person"),
    ],
)
def test_a_parameter_tells_what_entity_it_holds(name: str, schema: JsonSchema, entity: str, key: str) -> None:
    assert entity_of(name, schema) == entity
    assert noun_key(entity, name, schema) == key


@pytest.mark.parametrize(
    ("name", "schema"),
    [("phone", {"type": "string"}), ("note", {"type": "string", "description": "note to the driver"}),
     ("seat", {"type": "string", "enum": ["aisle"]}), ("guests", {"type": "integer"}), ("amount", {"type": "string"})],
)  # fmt: skip
def test_other_parameters_hold_no_entity(name: str, schema: JsonSchema) -> None:
    assert entity_of(name, schema) is None


def sections(**tagged: str) -> Sections:
    return Sections(tagged, None)


def reworded(said: str, words: str, phrase: str, language: Language, description: str = "") -> object:
    parameter = f'{{"name": "code", "schema": {{"type": "string", "description": "{description}"}}}}'
    shown = sections(said=f'"{said}"', words=f'"{words}"', phrase=f'"{phrase}"', parameter=parameter)
    return reword_request(shown, language)["request"]


@pytest.mark.parametrize(
    ("said", "words", "description", "language", "request_text"),
    [
        ("Track it, order number 4711.", "4711", "order number", "en", "Track it, order number: the one I sent."),
        (
            "Track it with order number 4711.",
            "4711",
            "order number",
            "en",
            "Track it with order number being the one I sent.",
        ),
        ("4711 is the number.", "4711", "order number", "en", "The one I sent is the number."),
        ("Not this afternoon, noon is fine.", "noon", "hour", "en", "Not this afternoon, the one I sent is fine."),
        ("查快递，订单编号 4711。", "4711", "订单编号", "zh", "查快递，订单编号是the one I sent。"),
        ("订单编号是“4711”。", "4711", "订单编号", "zh", "订单编号是the one I sent。"),
    ],
)
def test_the_phrase_fits_into_the_sentence(
    said: str, words: str, description: str, language: Language, request_text: str
) -> None:
    assert reworded(said, words, "the one I sent", language, description) == request_text


def test_words_that_are_not_said_can_not_be_replaced() -> None:
    with pytest.raises(ReplyError, match="does not find the words 'noon'"):
        reworded("In the afternoon.", "noon", "the one I sent", "en")


def test_a_prompt_that_lacks_a_section_is_refused_by_name() -> None:
    with pytest.raises(ReplyError, match="<arguments>"):
        name_entities(sections(arguments='{"a": 1}'))
    with pytest.raises(ReplyError, match="<parameter>"):
        word_pronoun(sections(parameter="[]", avoid="[]", said='""'), "en", Random(1))
    with pytest.raises(ReplyError, match="<entity>"):
        simulate_message(sections(parameter='{"name": "a", "schema": {}}', entity="1"), "en", Random(1))
