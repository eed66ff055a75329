"""Records: frozen, strict, and named by their content."""

from hypothesis import given
from hypothesis import strategies as st

from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Origin,
    Sample,
    Tool,
    UserTurn,
    content_key,
)
from callwright.warehouse.rows import body_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def sample_of(arguments: dict[str, object], origin: Origin | None = None) -> Sample:
    turns = (UserTurn(text="x"), CallTurn(calls=(GoldCall(tool="t", arguments=arguments),)))
    return Sample(
        kind="perfect", language="en", category="c", candidates=("a",), turns=turns, origin=origin
    )


@given(one=JSON, other=JSON)
def test_different_content_has_different_keys(one: object, other: object) -> None:
    assert (content_key([one]) == content_key([other])) == (_plain(one) == _plain(other))


def _plain(value: object) -> str:
    """A value's JSON text, in which 1, 1.0 and true differ as they do for a tool."""
    import orjson

    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def test_who_made_a_sample_does_not_change_its_key() -> None:
    made = sample_of({"a": 1}, Origin(stage="requests", model="one", planted="wrong_tool"))
    assert made.key == sample_of({"a": 1}).key


def test_a_kept_record_is_the_one_that_was_kept_and_what_it_becomes_has_a_key_of_its_own() -> None:
    call = Call(tool="book", arguments={"city": "Oslo"})
    read = Call.kept(call.key, body_of(call))
    assert (read, read.key) == (call, call.key)
    changed = read.with_changes(arguments={"city": "Bergen"})
    assert changed.key == Call(tool="book", arguments={"city": "Bergen"}).key != call.key


def test_snapshots_are_the_call_turns_with_what_came_before() -> None:
    sample = sample_of({"a": 1})
    [snapshot] = sample.snapshots()
    assert snapshot.turn == 1
    assert snapshot.prefix == sample.turns[:1]
    assert snapshot.calls == sample.gold


def test_what_nobody_says_is_not_shown_to_who_words_or_reads_a_call() -> None:
    properties = {
        "task": {"type": "string"},
        "opt_fields": {"type": "array"},
        "limit": {"type": "integer"},
    }
    schema = {"type": "object", "properties": properties, "required": ["task", "limit"]}
    tool = Tool(
        name="getTask",
        description="Get it.",
        parameters=schema,
        category="Work",
        plumbing=("opt_fields", "limit"),
    )
    assert list(tool.sayable["parameters"]["properties"]) == ["task", "limit"], (
        "what is required is given, so it is said"
    )
    assert tool.sayable["parameters"]["required"] == ["task", "limit"]
    assert tool.signature["parameters"] == schema
    assert tool.with_changes(plumbing=()).sayable == tool.with_changes(plumbing=()).signature
