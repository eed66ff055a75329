"""Facts of samples: typed fields, read from the texts of earlier versions, with keys as before."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    NO_FACTS,
    AskedField,
    Call,
    CallPlace,
    PaperId,
    Sample,
    SampleFacts,
    SpokenPart,
    UserWordings,
    content_key,
)
from callwright.warehouse.records.base import FOR_KEYS
from callwright.warehouse.store import Warehouse
from tests.support.warehouse.landed_builds import sample_row

BARE = {"kind": "IS", "language": "en", "category": "Dining", "candidates": [], "turns": []}
# In this order makers wrote them; "goal" and "extra" by their turns.
TEXTS = (
    "complexity=follow_up",
    "difficulty=hard",
    'hammerbench_id="a=b"',
    'hammerbench_label={"name":"book","arguments":{"to":""}}',
    "environment=town",
    "template=0af7",
    "reference_time=2026-03-04 10:00",
    "goal=0:book",
    "extra=0:by the way: x=y",
    "goal=4:cancel",
    "simulation=0",
    "wanted=2.0 2.1",
    "asked=2.0 data.price of a night",
    "asked=2.1 name",
    "user=4/1",
    "shift=0",
    "shift=3",
    "persona=a nurse",
    "style=brief",
    "lent",
    "shift=last",
    "goal=x:no",
    "user=4",
)
FACTS = SampleFacts(
    complexity="follow_up",
    difficulty="hard",
    paper_id=PaperId("hammerbench", "a=b"),
    hammerbench_labels=(Call(tool="book", arguments={"to": ""}),),
    environment="town",
    template="0af7",
    reference_time="2026-03-04 10:00",
    goals=(SpokenPart(0, "book"), SpokenPart(4, "cancel")),
    extras=(SpokenPart(0, "by the way: x=y"),),
    simulation=0,
    wanted=(CallPlace(2, 0), CallPlace(2, 1)),
    asked=(AskedField(2, 0, "data.price of a night"), AskedField(2, 1, "name")),
    user=UserWordings(4, 1),
    shifts=(0, 3),
    persona="a nurse",
    style="brief",
    labels=("lent", "shift=last", "goal=x:no", "user=4"),
)


def older(*texts: str) -> bytes:
    """The body of a sample as earlier versions kept it."""
    return orjson.dumps(BARE | {"withheld": [], "tags": texts, "origin": None})


def older_key(*texts: str) -> str:
    body = BARE | {"withheld": [], "tags": list(texts)}
    return content_key({"type": "Sample", "body": body})


def test_a_body_of_an_earlier_version_has_its_facts_and_its_key() -> None:
    sample = Sample.model_validate_json(older(*TEXTS))
    assert sample.facts == FACTS
    assert sample.key == older_key(*TEXTS)
    assert Sample.model_validate(orjson.loads(older())) == Sample(**BARE)
    assert Sample(**BARE).key == older_key()


def test_facts_are_kept_by_name_and_left_out_where_there_are_none() -> None:
    sample = Sample(**BARE, facts=FACTS)
    body = orjson.loads(sample.model_dump_json())
    assert "tags" not in body
    assert body["facts"]["asked"][0] == {"step": 2, "place": 0, "path": "data.price of a night"}
    assert body["facts"]["user"] == {"wordings": 4, "refused": 1}
    assert body["facts"]["simulation"] == 0
    again = Sample.model_validate(body)
    assert (again, again.key) == (sample, sample.key)
    assert orjson.loads(Sample(**BARE).model_dump_json())["facts"] == {}


@given(
    st.builds(
        SampleFacts,
        wanted=st.lists(st.builds(CallPlace, st.integers(0, 9), st.integers(0, 9))).map(tuple),
        asked=st.lists(st.builds(AskedField, st.integers(0, 9), st.integers(0, 9), st.text())).map(
            tuple
        ),
        goals=st.lists(st.builds(SpokenPart, st.just(1), st.text(min_size=1))).map(tuple),
        shifts=st.lists(st.integers(0, 99)).map(tuple),
        simulation=st.none() | st.integers(0),
        environment=st.text(),
        persona=st.text(),
    )
)
def test_facts_are_read_back_from_json_and_from_what_keys_are_made_of(facts: SampleFacts) -> None:
    assert SampleFacts.model_validate_json(facts.model_dump_json()) == facts
    assert SampleFacts.model_validate(facts.model_dump(context=FOR_KEYS)) == facts


def test_another_kind_says_which_gold_it_keeps() -> None:
    source = Sample(**BARE, facts=FACTS)
    with pytest.raises(RecordError, match=r"kind 'mine' is made of one of the kind 'IS'.*facts="):
        source.with_changes(kind="mine", turns=())
    kept = source.with_changes(kind="mine", facts=source.facts.without_gold()).facts
    assert (kept.environment, kept.wanted, kept.asked, kept.shifts) == ("town", (), (), ())
    assert source.with_changes(turns=()).facts == FACTS, "an edit of the same kind"
    assert Sample(**BARE).with_changes(kind="mine").facts == NO_FACTS
    assert not kept.has_gold


def test_views_read_facts_of_either_form(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    spoken = SampleFacts(persona="a nurse", user=UserWordings(4, 1))
    bodies = (
        older("environment=town", "persona=a nurse", "user=4/1").decode(),
        Sample(**BARE, facts=spoken).model_dump_json(),
        older("environment=town").decode(),
    )
    rows = [sample_row(f"{at}", "perfect", "en") | {"body": one} for at, one in enumerate(bodies)]
    warehouse.put_rows({"samples": rows})
    voices = warehouse.rows(
        "select key, coalesce(sample_fact(body, 'persona'), '') as persona, coalesce(sample_fact(body, 'style'), '') as style from samples order by key"
    )
    assert [tuple(row.values()) for row in voices] == [
        ("0", "a nurse", ""),
        ("1", "a nurse", ""),
        ("2", "", ""),
    ]
    counted = "select regexp_extract_all(sample_fact(body, 'user'), '\\d+') as n from samples order by key"
    assert [row["n"] for row in warehouse.rows(counted)] == [["4", "1"], ["4", "1"], None]
