"""BFCL's questions are read with all that its answers accept, single turns and several."""

import json
from pathlib import Path
from typing import Any

import pytest

from callwright.generators.imports.bfcl import read_bfcl_samples
from callwright.generators.imports.reading import (
    SOURCES,
    AcceptedValues,
    ImportedRecord,
    read_samples,
)
from callwright.generators.tools import argument_problems
from callwright.validators.audit.findings import find_in_record
from callwright.warehouse.records import CallTurn, Sample, UserTurn


def write(path: Path, *rows: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def function(**properties: Any) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": []}
    return {"name": "act", "description": "Act.", "parameters": parameters}


def question(identity: str, doc: dict[str, Any], text: str = "Act.") -> dict[str, Any]:
    said = [[{"role": "user", "content": text}]]
    return {"id": identity, "question": said, "function": [doc]}


def read_one(
    folder: Path, doc: dict[str, Any], accepted: dict[str, Any], category: str = "multiple"
) -> ImportedRecord:
    name = f"BFCL_v4_{category}.json"
    write(folder / name, question("q-1", doc))
    write(folder / "possible_answer" / name, {"id": "q-1", "ground_truth": [{"act": accepted}]})
    [record] = read_bfcl_samples(folder)
    assert record.item == "q-1"
    assert record.line == 1
    return record


def sample_of(record: ImportedRecord) -> Sample:
    assert record.sample, record.problems
    return record.sample


BODY = {"type": "dict", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
ITEMS = {"type": "array", "items": BODY}


def test_a_member_that_may_be_left_out_is_none_of_the_gold(tmp_path: Path) -> None:
    accepted = {
        "body": [{"a": ["x", "y"], "b": ["", 1]}],
        "items": [[{"a": ["z"], "b": [2, ""]}, {"a": [""], "b": [3]}]],
        "sizes": ["", []],
    }
    record = read_one(tmp_path, function(body=BODY, items=ITEMS, sizes=ITEMS), accepted)
    [call] = sample_of(record).gold
    assert call.arguments == {"body": {"a": "x"}, "items": [{"a": "z", "b": 2}, {"b": 3}]}
    assert argument_problems(record.tools[0], call.arguments, partial=False) == []
    of_members = [one for one in record.accepted if "." in one.argument]
    assert of_members == [
        AcceptedValues(1, 0, "body.a", ("x", "y")),
        AcceptedValues(1, 0, "body.b", (1,), may_lack=True),
        AcceptedValues(1, 0, "items[0].a", ("z",)),
        AcceptedValues(1, 0, "items[0].b", (2,), may_lack=True),
        AcceptedValues(1, 0, "items[1].a", (), may_lack=True),
        AcceptedValues(1, 0, "items[1].b", (3,)),
    ]
    assert AcceptedValues(1, 0, "sizes", ([],), may_lack=True) in record.accepted


def test_an_empty_list_may_be_right_and_objects_within_members_are_as_they_stand(
    tmp_path: Path,
) -> None:
    deep = {"type": "dict", "properties": {"inner": {"type": "dict"}}}
    doc = function(items=ITEMS, deep=deep, free={"type": "dict"})
    accepted = {"items": [[]], "deep": [{"inner": [{"list": [1, 2]}]}], "free": [{}, {"k": "v"}]}
    record = read_one(tmp_path, doc, accepted)
    [call] = sample_of(record).gold
    assert call.arguments == {"items": [], "deep": {"inner": {"list": [1, 2]}}, "free": {}}


def test_code_may_stand_for_any_value_of_java_and_javascript(tmp_path: Path) -> None:
    doc = function(
        kinds={"type": "ArrayList", "items": {"type": "String"}},
        count={"type": "integer"},
        options={"type": "HashMap", "properties": {"deep": {"type": "Boolean"}}},
        free={"type": "any"},
        name={"type": "String"},
    )
    code = {
        "kinds": ["Kinds.ALL"],
        "count": ["Limits.MOST"],
        "options": [{"deep": ["isDeep"]}],
        "free": ["new HashMap()"],
    }
    record = read_one(tmp_path / "code", doc, code, "simple_java")
    [call] = sample_of(record).gold
    assert argument_problems(record.tools[0], call.arguments, partial=False) == []
    plain: dict[str, Any] = {"kinds": [["a"]], "count": [3], "options": [{"deep": [True]}]}
    record = read_one(tmp_path / "plain", doc, plain, "simple_javascript")
    [call] = sample_of(record).gold
    assert argument_problems(record.tools[0], call.arguments, partial=False) == []
    assert argument_problems(record.tools[0], {"name": 3, "count": 1.5}, partial=True)


def test_questions_without_gold_cost_a_sentence_a_file(tmp_path: Path) -> None:
    memory = {"question": [[{"role": "user", "content": "Who?"}]], "involved_classes": ["Memory"]}
    write(tmp_path / "BFCL_v4_memory.json", *({"id": f"m-{at}", **memory} for at in range(9)))
    answers = ({"id": f"m-{at}", "ground_truth": ["Ann"]} for at in range(9))
    write(tmp_path / "possible_answer" / "BFCL_v4_memory.json", *answers)
    write(tmp_path / "BFCL_v4_live_relevance.json", question("r-1", function()))
    write(tmp_path / "BFCL_v4_irrelevance.json", question("i-1", function()))
    idle, relevance, memory_file = read_bfcl_samples(tmp_path)
    assert sample_of(idle).turns[-1] == CallTurn()
    for record, count in ((relevance, "1 question"), (memory_file, "9 questions")):
        [problem] = record.problems
        assert record.sample is None
        assert count in problem.message
        assert [one.severity for one in find_in_record(record)] == ["note"]


DOCUMENTS = [
    {
        "name": "cd",
        "description": "Change the folder.",
        "parameters": {
            "type": "dict",
            "properties": {"folder": {"type": "string"}, "depth": {"type": "integer"}},
            "required": ["folder"],
        },
        "response": {"type": "dict", "properties": {"now": {"type": "string"}}},
    },
    {"name": "ls", "description": "List.", "parameters": {"type": "dict", "properties": {}}},
    {"name": "rm", "description": "Remove.", "parameters": {"type": "dict", "properties": {}}},
]
STATE = {"GorillaFileSystem": {"root": {"docs": {"type": "directory"}}}}


def turns_of(folder: Path, said: list[str], due: list[list[str]], **more: Any) -> ImportedRecord:
    """Return what is read of one item in the folder's usual layout."""
    name = "BFCL_v4_multi_turn_base.json"
    fields = {
        "id": "multi_turn_base_0",
        "question": [[{"role": "user", "content": text}] if text else [] for text in said],
        "initial_config": STATE,
        "involved_classes": ["GorillaFileSystem"],
        **more,
    }
    write(folder / name, fields)
    write(folder / "possible_answer" / name, {"id": fields["id"], "ground_truth": due})
    write(folder / "multi_turn_func_doc" / "gorilla_file_system.json", *DOCUMENTS)
    [record] = read_bfcl_samples(folder)
    return record


def test_several_turns_are_read_with_the_documents_of_their_classes(tmp_path: Path) -> None:
    due = [["cd('docs', depth=-2)", "ls()"], [], ["cd(folder='..')"]]
    record = turns_of(tmp_path, ["Look.", "Go.", "Up."], due, excluded_function=["rm"])
    turns = sample_of(record).turns
    assert [turn.text for turn in turns if isinstance(turn, UserTurn)] == ["Look.", "Go.", "Up."]
    made = [turn for turn in turns if isinstance(turn, CallTurn)]
    assert [[(one.tool, one.arguments) for one in turn.calls] for turn in made] == [
        [("cd", {"folder": "docs", "depth": -2}), ("ls", {})],
        [],
        [("cd", {"folder": ".."})],
    ]
    assert not any(turn.executed for turn in made)
    assert [tool.name for tool in record.tools] == ["cd", "ls"]
    assert record.tools[0].returns
    assert (record.state, record.lacks_results) == (STATE, True)
    assert (record.item, record.line) == ("multi_turn_base_0", 1)
    [no_sample] = read_samples(SOURCES.named("bfcl"), tmp_path)
    assert no_sample.sample is None


def test_a_function_that_comes_later_is_noted_and_its_gold_follows_the_words(
    tmp_path: Path,
) -> None:
    due = [["cd('docs')"], [], ["ls()"], []]
    said = ["Look.", "List.", "", "Bye."]
    record = turns_of(tmp_path, said, due, missed_function={"2": ["ls"]})
    assert [turn.kind for turn in sample_of(record).turns] == ["user", "calls"] * 3
    assert "'ls'" in " ".join(problem.message for problem in record.problems)


def test_a_gold_that_is_no_call_of_plain_values_is_told(tmp_path: Path) -> None:
    for text in ("cd(", "cd(open('x'))", "cd('a', 1, 2)", "__import__('os').system('x')", "fly()"):
        record = turns_of(tmp_path, ["Go."], [[text]])
        if text == "fly()":
            assert sample_of(record).gold[0].tool == "fly"
        else:
            assert record.sample is None
            assert record.item == "multi_turn_base_0"
            assert text[:3] in record.problems[-1].message


def test_without_the_documents_of_classes_their_folder_is_named(tmp_path: Path) -> None:
    record = turns_of(tmp_path, ["Go."], [["ls()"]], involved_classes=["Unknown"])
    assert record.sample is None
    assert "multi_turn_func_doc" in record.problems[-1].message


@pytest.mark.parametrize("category", ["base", "miss_func", "miss_param"])
def test_the_published_questions_of_several_turns_are_read(category: str, shared: Path) -> None:
    file = shared / "data" / "bfcl" / "questions" / f"BFCL_v4_multi_turn_{category}.json"
    records = [*read_bfcl_samples(file)]
    assert len(records) == 10  # the first of each file
    assert [record.problems for record in records if record.sample is None] == []
    due = [call for record in records for call in sample_of(record).all_calls]
    assert {call.tool for call in due} <= {tool.name for one in records for tool in one.tools}
