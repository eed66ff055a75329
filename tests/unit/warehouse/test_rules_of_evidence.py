"""Rules of evidence: typed, read from the texts of earlier versions, with keys as before."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.warehouse.records import (
    CallTurn,
    Condition,
    EntryRule,
    Evidence,
    FeedRule,
    GoldCall,
    content_key,
)
from callwright.warehouse.records.base import FOR_KEYS
from callwright.warehouse.store import Warehouse

PATHS = st.one_of(
    st.from_regex(r"[a-z_]{1,6}(\.[a-z_]{1,6}){0,2}", fullmatch=True), st.text(max_size=6)
)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=8))
CONDITIONS = st.one_of(
    st.builds(Condition, test=st.sampled_from(["equals", "contains"]), field=PATHS, value=VALUES),
    st.builds(
        Condition, test=st.sampled_from(["lowest", "highest", "earliest", "latest"]), field=PATHS
    ),
    st.just(Condition(test="only")),
)
CHEAPEST_IN_ROME = EntryRule(
    entries="data.hotels",
    field="hotel_id",
    where=(
        Condition(test="contains", field="name", value="Rome"),
        Condition(test="lowest", field="price"),
    ),
    later_by=90,
)
TEXT = 'hotel_id of data.hotels: name contains "Rome"; lowest price; 90 minutes later'


def evidence(rule: str | EntryRule | FeedRule) -> Evidence:
    return Evidence(argument="hotel", kind="response", turn=2, rule=rule)


@given(
    st.builds(
        EntryRule,
        entries=PATHS,
        field=PATHS,
        where=st.lists(CONDITIONS, max_size=3).map(tuple),
        later_by=st.integers(-500, 500),
    )
)
def test_a_rule_is_read_back_from_json_and_from_its_text(rule: EntryRule) -> None:
    one = evidence(rule)
    assert Evidence.model_validate_json(one.model_dump_json()) == one
    assert Evidence.model_validate(one.model_dump(context=FOR_KEYS)) == one


def test_a_text_of_an_earlier_version_is_a_rule_and_its_key_stays() -> None:
    body = evidence("").model_dump(mode="json")
    texts = {TEXT: CHEAPEST_IN_ROME, "calls[2].returns.id": FeedRule(call=2, field="id")}
    for text, rule in texts.items():
        read = Evidence.model_validate_json(orjson.dumps(body | {"rule": text}))
        assert read == evidence(rule)
        assert read.key == content_key({"type": "Evidence", "body": body | {"rule": text}})
        turn = CallTurn(calls=(GoldCall(tool="book", evidence=(read,)),))
        assert CallTurn.model_validate_json(turn.model_dump_json()) == turn


@pytest.mark.parametrize(
    "name",
    ["", "text", "a of", '"\\q" of b', "a of b: nicest c", 'a of b: c equals "', "a of b! c"],
)
def test_what_tells_no_entry_is_a_name(name: str) -> None:
    assert evidence(name).rule == name


def test_names_of_normalisations_are_no_rules_of_entries() -> None:
    said = Evidence(argument="at", kind="normalised", rule="time of day")
    assert said.rule == "time of day"


def test_sql_says_a_rule_as_the_texts_of_earlier_versions_did(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    rules = {
        TEXT: CHEAPEST_IN_ROME,
        "calls[2].returns.id": FeedRule(call=2, field="id"),
        'id of "": only entry': EntryRule(entries="", field="id", where=(Condition(test="only"),)),
        "at of data: -5 minutes later": EntryRule(entries="data", field="at", later_by=-5),
        "text": "text",
    }
    for text, rule in rules.items():
        body = evidence(rule).model_dump_json()
        [row] = warehouse.rows("select rule_words(?::json -> '$.rule') as words", [body])
        assert row["words"] == text
