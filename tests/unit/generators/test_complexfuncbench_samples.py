"""ComplexFuncBench's records as samples, and samples as its records."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.generators.imports.papers import read_complexfuncbench
from callwright.generators.imports.reading import ImportedRecord
from callwright.warehouse.errors import RecordError
from callwright.warehouse.exports.papers import PATHS_FILE
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from tests.support.warehouse.exported import exported as exported_files
from tests.support.warehouse.exported import release_of

REQUEST = "Find a hotel with a pool in Oslo for 2 people from 2026-12-01, and what its guests say."


def function(name: str, required: list[str], **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": f"{name} of the travel desk.", "parameters": parameters}


TEXT = {"type": "string", "description": "A text."}
FUNCTIONS = [
    function("Search_Hotel_Destination", ["query"], query=TEXT),
    function("Get_Filter", ["dest_id"], dest_id=TEXT),
    function(
        "Search_Hotels",
        ["dest_id"],
        dest_id=TEXT,
        categories_filter=TEXT,
        arrival_date=TEXT,
        adults={"type": "number", "description": "How many."},
        currency={"type": "string", "description": "A currency.", "default": "EUR"},
        stays={
            "type": "array",
            "description": "Stays.",
            "items": {"type": "object", "properties": {"place": TEXT}},
        },
    ),
    function("Get_Hotel_Reviews(Tips)", ["hotel_id"], hotel_id=TEXT),
]


def calls(*made: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {
        "role": "assistant",
        "function_call": [{"name": name, "arguments": given} for name, given in made],
    }


def told(*responses: Any) -> dict[str, Any]:
    return {"role": "observation", "content": list(responses)}


HOTELS = {
    "dest_id": "-27",
    "categories_filter": "facility::433,facility::107",
    "arrival_date": "2026-12-01",
    "adults": 2,
    "currency": "EUR",
    "stays": [{"place": "Oslo"}],
}
CONVERSATION = [
    {"role": "user", "content": REQUEST},
    calls(("Search_Hotel_Destination", {"query": "Oslo"})),
    told({"data": [{"dest_id": "-27", "name": "Oslo", "nights": 3}]}),
    calls(("Get_Filter", {"dest_id": "-27"})),
    told(
        {
            "filters": [
                {"id": "facility::433", "title": "Pool"},
                {"id": "facility::107", "title": "Wi-Fi"},
            ]
        }
    ),
    calls(("Search_Hotels", HOTELS), ("Search_Hotel_Destination", {"query": "Bergen"})),
    told({"data": {"hotels": [{"hotel_id": 81, "price": 120.5}]}}, {"data": []}),
    calls(("Get_Hotel_Reviews(Tips)", {"hotel_id": "81"})),
    told({"reviews": ["Quiet."]}),
    {"role": "assistant", "content": "The hotel 81 costs 120.5; guests say it is quiet."},
]


def record(identity: str = "Hotels-0", **changes: Any) -> dict[str, Any]:
    return {"id": identity, "functions": FUNCTIONS, "conversations": CONVERSATION, **changes}


def write(folder: Path, *records: Any, name: str = "ComplexFuncBench.jsonl") -> Path:
    path = folder / name
    path.write_text(
        "\n".join(json.dumps(one, ensure_ascii=False) for one in records), encoding="utf-8"
    )
    return path


def read(folder: Path, *records: Any) -> list[ImportedRecord]:
    return list(read_complexfuncbench(write(folder, *records)))


def sample_of(folder: Path, stated: Any) -> Sample:
    (found,) = read(folder, stated)
    assert found.sample is not None, found.problems
    return found.sample


def exported(records: list[ImportedRecord]) -> list[dict[str, Any]]:
    tools = {tool.key: tool for found in records for tool in found.tools}
    return written([found.sample for found in records if found.sample], tools)


def written(samples: list[Sample], tools: dict[str, Tool]) -> list[dict[str, Any]]:
    return exported_files(release_of(samples, tools), "complexfuncbench")[PATHS_FILE]


def test_a_record_comes_back_as_it_was(tmp_path: Path) -> None:
    stated = [record(), record("Cross-17"), record("Car-Rental-3")]
    records = read(tmp_path, *stated)
    assert json.dumps(exported(records)) == json.dumps(stated)
    assert [found.item for found in records] == [one["id"] for one in stated]
    assert [problem for found in records for problem in found.problems] == []


def test_kind_and_category_are_told_by_the_id(tmp_path: Path) -> None:
    made = [
        sample_of(tmp_path, record(identity))
        for identity in ("Hotels-0", "Car-Rental-12", "Cross-3")
    ]
    assert [(sample.kind, sample.category) for sample in made] == [
        ("multi_step", "Hotels"),
        ("multi_step", "Car Rental"),
        ("multi_step_cross", "Cross"),
    ]


def test_steps_are_call_turns_that_were_made_with_their_responses(tmp_path: Path) -> None:
    sample = sample_of(tmp_path, record())
    assert [type(turn) for turn in sample.turns] == [
        UserTurn,
        *[CallTurn, ResultTurn] * 4,
        ReplyTurn,
    ]
    assert all(turn.executed for turn in sample.turns if isinstance(turn, CallTurn))
    assert [len(snapshot.calls) for snapshot in sample.snapshots()] == [1, 1, 2, 1]
    assert len(sample.candidates) == len(FUNCTIONS)


def changed(at: int, message: Any) -> dict[str, Any]:
    return record(conversations=[*CONVERSATION[:at], message, *CONVERSATION[at + 1 :]])


@pytest.mark.parametrize(
    ("stated", "told_so"),
    [
        (record(conversations=[]), "not a list of messages"),
        (record(conversations=CONVERSATION[1:]), "does not begin with the user"),
        (record(conversations=CONVERSATION[:2]), "have no observation"),
        (record(7), "The id is 7"),  # type: ignore[arg-type]
        (record(functions={}), "not a list"),
        (record(functions=[3]), "1 of its 1 functions"),
        (changed(2, told()), "after 1 call"),
        (changed(2, told(1, 2)), "after 1 call"),
        (
            changed(1, {"role": "assistant", "function_call": [{"name": "f"}]}),
            "not a name and arguments",
        ),
        (
            changed(1, {"role": "assistant", "function_call": []}),
            "A message of the role 'assistant'",
        ),
        (changed(9, {"role": "system", "content": "x"}), "A message of the role 'system'"),
        (changed(9, 3), "A message of the role None"),
        ([], "The id is None"),
    ],
)
def test_what_is_no_record_is_left_out_with_the_reason(
    tmp_path: Path, stated: Any, told_so: str
) -> None:
    bad, good = read(tmp_path, stated, record())
    assert bad.sample is None
    assert any(told_so in problem.message for problem in bad.problems)
    assert good.sample is not None


def own_sample(category: str = "Car Rental", **changes: Any) -> tuple[Sample, dict[str, Tool]]:
    context = Tool(
        name="Search_Cars",
        description="Cars.",
        parameters={"type": "object", "properties": {}},
        category=category,
    )
    evidence = (Evidence(argument="place", kind="span", turn=0, start=7, end=11, quote="Oslo"),)
    call = GoldCall(tool="Search_Cars", arguments={"place": "Oslo"}, evidence=evidence)
    turns = (
        UserTurn(text="Car in Oslo."),
        CallTurn(calls=(call, call), executed=True),
        ResultTurn(results=({"cars": [1]}, None)),
        ReplyTurn(text="There is one."),
    )
    fields = {
        "kind": "multi_step",
        "language": "en",
        "category": category,
        "candidates": (context.key,),
        "turns": turns,
        "facts": SampleFacts(environment="travel"),
    }
    return Sample(**{**fields, **changes}), {context.key: context}


def test_a_sample_of_our_own_is_read_back_as_what_it_was(tmp_path: Path) -> None:
    sample, tools = own_sample()
    back = sample_of(tmp_path, written([sample], tools)[0])
    assert (back.kind, back.category, back.language) == (
        sample.kind,
        sample.category,
        sample.language,
    )
    assert [turn.kind for turn in back.turns] == [turn.kind for turn in sample.turns]
    assert back.turns[2:] == sample.turns[2:]
    assert [(call.tool, call.arguments) for call in back.gold] == [
        (call.tool, call.arguments) for call in sample.gold
    ]
    assert back.candidates == tuple(
        tool.with_changes(source="complexfuncbench").key for tool in tools.values()
    )


@pytest.mark.parametrize(
    ("turns", "told_so"),
    [
        ((), "no path of calls that were made"),
        (
            (UserTurn(text="x"), CallTurn(calls=(GoldCall(tool="Search_Cars"),))),
            "no path of calls that were made",
        ),
        (
            (
                UserTurn(text="x"),
                CallTurn(calls=(GoldCall(tool="Search_Cars"),) * 2),
                ResultTurn(results=(1,)),
            ),
            "need a result for each call",
        ),
        (
            (
                UserTurn(text="x", external=Message(app="Mail", text="y")),
                CallTurn(),
                ResultTurn(results=()),
            ),
            "external",
        ),
    ],
)
def test_a_sample_that_the_format_can_not_hold_is_refused(turns: Any, told_so: str) -> None:
    sample, tools = own_sample(turns=turns)
    with pytest.raises(RecordError, match=told_so):
        written([sample], tools)


JSON = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["user", "assistant", "observation"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "functions",
                    "conversations",
                    "role",
                    "content",
                    "function_call",
                    "name",
                    "arguments",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stated=st.lists(JSON, max_size=3))
def test_any_json_is_records_or_reasons(tmp_path: Path, stated: list[Any]) -> None:
    for found in read(tmp_path, *stated):
        assert found.sample is not None or found.problems
