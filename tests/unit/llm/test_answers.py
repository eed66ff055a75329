"""Replies as answers: what can only mean one thing is read, what could mean two is asked anew."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from callwright.llm.answers import parse_answer, read_object
from callwright.warehouse.errors import ReplyError


class Trip(BaseModel):
    """Where to, and for how long."""

    city: str
    days: int


class Plan(BaseModel):
    """Trips, with what may lack."""

    trips: list[Trip] = []
    price: float = 0.0
    notes: dict[str, JsonValue] = {}


LYON = Trip(city="Lyon", days=2)
GOOD = '{"city":"Lyon","days":2}'
OTHER = '{"city":"Lyon","days":3}'
WORDS = st.text(alphabet=st.characters(exclude_characters='{}[]<"', exclude_categories=("Cs",)))
OBJECTS = st.dictionaries(
    st.text(max_size=5),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**60), 2**60)
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    "text",
    [
        *(
            GOOD,
            f"```json\n{GOOD}\n```",
            f"\n```JSON\n{GOOD}```\n",
            f"  {GOOD}\n",
            f"```\n{GOOD}\n```",
        ),
        f"Here is my trip:\n```json\n{GOOD}\n```\nEnjoy!",
        f"```json {GOOD} ```",
        f"```json\n```json\n{GOOD}\n```\n```",
        f"Sure! {GOOD} Have fun :-)",
        f"As {{city}} and [1] say: {GOOD}",
        f"<think>Paris? {OTHER} Or {{x: [</think>\n{GOOD}",
        f"<thinking>\n{OTHER}\n</thinking>```json\n{GOOD}\n```",
        f"{GOOD}\n{GOOD}",
        *('{"city":"Lyon","days":2,}', '{"city":"Lyon","days":"2"}', '{"city":"Lyon","days":2.0}'),
        *(
            '{"city":"Lyon","days":"2.0"}',
            '{"city":"Lyon","days":2,"city":"Lyon"}',
            '{"city":"Lyon","days":2 , }',
        ),
    ],
)
def test_what_can_only_mean_one_thing_is_read(text):
    assert parse_answer(text, Trip) == LYON


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *(
            ("", "no object"),
            ("null", "no object"),
            ("Well, I think", "no object"),
            ('"{}"', "Field required"),
        ),
        *(
            ('{"days":2}', "city: Field required"),
            ('{"city":null,"days":2}', "city: Field required"),
        ),
        (f"{GOOD} No, rather {OTHER}", "several"),
        (f"{OTHER}\n```json\n{GOOD}\n```", "several"),
        (f"[{GOOD}]", "within something else"),
        (f'{{"trip": {GOOD}', "Invalid JSON"),
        (GOOD[:-1], "Invalid JSON"),
        (f"{GOOD}}}", "broken"),
        (f"{{city: Paris, days: 3}} {GOOD}", "Invalid JSON"),
        ('{"city":"Lyon","days":2,"days":3}', "is given twice, with different values"),
        (f"<think>It is {GOOD}", "does not come to an answer"),
        *(('{"city":"Lyon","days":"2 or 3"}', "days"), ('{"city":"Lyon","days":2.5}', "days")),
        *(
            ('{"city":"Lyon","days":true}', "days"),
            ('{"city":5,"days":2}', "city"),
            ('{"city":"Lyon","days":""}', "days"),
        ),
        *(
            ('{"city":"Lyon","days":NaN}', "NaN"),
            ('{"city":"Lyon","days":1e999}', "not a number that JSON can hold"),
        ),
        *(
            ("{" * 5000, "nested"),
            ('{"city":"\\ud800","days":2}', "hex escape"),
            ('{"city":"Lyon",,"days":2}', "Invalid JSON"),
        ),
    ],
)
def test_what_could_mean_two_things_or_nothing_is_refused_with_the_reason(text, reason):
    with pytest.raises(ReplyError, match=reason) as raised:
        parse_answer(text, Trip)
    assert repr(text[:200]) in str(raised.value)


def test_a_member_that_may_lack_may_be_null_and_a_number_in_quotes():
    text = '{"trips":[{"city":"Lyon","days":"2"},{"city":"Nice","days":3.0}],"price":"12.50","notes":null}'
    assert parse_answer(text, Plan) == Plan(trips=[LYON, Trip(city="Nice", days=3)], price=12.5)
    assert parse_answer('{"price": null, "notes": {"a": null}}', Plan) == Plan(notes={"a": None})


def test_of_a_reply_that_is_cut_off_what_is_whole_is_read_where_that_is_enough():
    assert parse_answer(GOOD[:-1] + ', "notes": ["one", "tw', Trip, is_cut=True) == LYON
    assert parse_answer(f'Here: {{"trips": [{GOOD}, {{"city": "Ly', Plan, is_cut=True) == Plan(
        trips=[LYON]
    )
    assert parse_answer(f"{GOOD} And as to wh", Trip, is_cut=True) == LYON
    for text in ('{"city":"Lyon","da', "Well, I think that", f"<think>Perhaps {GOOD}"):
        with pytest.raises(ReplyError, match="not a Trip"):
            parse_answer(text, Trip, is_cut=True)


@given(OBJECTS, WORDS, WORDS, st.booleans())
def test_whatever_words_stand_around_an_object_it_is_read_as_it_is(
    document, before, behind, is_fenced
):
    written = json.dumps(document)
    fence = "```" if is_fenced else ""
    assert read_object(f"{before}{fence}{written}{fence}{behind}") == document


PIECES = st.lists(
    st.sampled_from(
        [
            GOOD,
            OTHER,
            *'{}[]",:\\\n',
            "```json",
            "```",
            "<think>",
            "</think>",
            ",}",
            "1e999",
            "NaN",
            "null",
            '"a":',
            "9" * 120,
        ]
    )
    | st.text(max_size=4),
    max_size=12,
).map("".join)


@given(PIECES, st.booleans())
@example("[" * 600, False)
@example('{"a":' * 600, True)
def test_no_text_breaks_the_reader_and_only_what_was_said_is_read(text, is_cut):
    try:
        read = parse_answer(text, Trip, is_cut=is_cut)
    except ReplyError:
        return
    said = text.rpartition("think>")[2]
    assert is_cut or (read == LYON and OTHER not in said) or (read.days == 3 and GOOD not in said)
