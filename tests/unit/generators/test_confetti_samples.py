"""Conversations in CONFETTI's shape: what is exported is read back as it was, and scored as
right.
"""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from callwright.generators.imports.bfcl import read_confetti_samples
from callwright.validators.metrics.confetti.scores import read_answers
from callwright.warehouse.exports.bfcl import ACTS_FILE, CALLS_FILE
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    UserTurn,
)
from callwright.warehouse.releases import ReleaseContent
from tests.support.warehouse.exported import exported, release_of, stream_of


def tool(name: str, **properties: Any) -> Tool:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(
        name=name,
        description=f"Do {name}.",
        parameters=parameters,
        category="Boats",
        source="confetti",
    )


FIND = tool("find_ferry", port={"type": "string", "description": ""})
BOOK = tool(
    "book_ferry",
    ferry={"type": "string", "description": ""},
    seats={"type": "integer", "description": ""},
)


def call(name: str, **arguments: Any) -> GoldCall:
    return GoldCall(tool=name, arguments=arguments)


TALK = Sample(
    kind="conversation",
    language="en",
    category="Boats",
    candidates=(FIND.key, BOOK.key),
    turns=(
        UserTurn(text="I need a ferry."),
        ReplyTurn(text="From which port?", acts=("seek",)),
        UserTurn(text="See the note.", external=Message(app="Notes", text="Bergen, two of us.")),
        CallTurn(
            calls=(call("find_ferry", port="Bergen"), call("find_ferry", port="Voss")),
            executed=True,
        ),
        ResultTurn(results=({"ferry": "F7"}, {"error": "none"})),
        CallTurn(calls=(call("book_ferry", ferry="F7", seats=2),), executed=True),
        ResultTurn(results=("booked",)),
        ReplyTurn(text="It's done. Anything else?", acts=("inform", "seek")),
        UserTurn(text="No."),
        ReplyTurn(text="Bye.", acts=("other",)),
    ),
)


def content(*samples: Sample) -> ReleaseContent:
    return release_of(samples, {FIND.key: FIND, BOOK.key: BOOK})


def test_a_question_stands_for_each_call_after_the_gold_ones_before_it() -> None:
    files = exported(content(TALK), "confetti")
    answers, questions = files[f"possible_answer/{CALLS_FILE}"], files[CALLS_FILE]
    assert [row["ground_truth"] for row in answers] == [
        [{"find_ferry": {"port": ["Bergen"]}}],
        [{"find_ferry": {"port": ["Voss"]}}],
        [{"book_ferry": {"ferry": ["F7"], "seats": [2]}}],
    ]
    assert [row["dialog_id"] for row in answers] == [f"{TALK.key}_{number}" for number in range(3)]
    assert [len(row["question"][0]) for row in questions] == [3, 5, 6]
    assert questions[1]["question"][0][-1] == {"role": "tool", "content": '{"ferry":"F7"}'}
    assert questions[0]["function"][1]["parameters"]["required"] == ["ferry", "seats"]


def test_an_agent_turn_has_its_acts_and_what_it_calls() -> None:
    turns = exported(content(TALK), "confetti")[f"possible_answer/{ACTS_FILE}"]
    assert [row["ground_truth"] for row in turns] == [
        ["agent_seek_information"],
        ["agent_function_calling", "agent_inform_user", "agent_seek_information"],
        ["agent_other"],
    ]
    assert turns[1]["ground_truth_content"][:2] == [
        "find_ferry(port=['Bergen'])",
        "find_ferry(port=['Voss'])",
    ]


def test_what_is_exported_is_read_back_as_it_was(tmp_path: Path) -> None:
    export_release(stream_of(content(TALK)), "confetti", tmp_path)
    [record] = read_confetti_samples(tmp_path)
    sample = record.sample
    assert sample is not None
    assert record.problems == ()
    assert (record.item, record.line > 0) == (TALK.key, True)
    told = [
        (
            turn.with_changes(calls=tuple(one.with_changes(evidence=()) for one in turn.calls))
            if isinstance(turn, CallTurn)
            else turn
        )
        for turn in sample.turns
    ]
    assert tuple(told) == TALK.turns
    assert [one.name for one in record.tools] == ["find_ferry", "book_ferry"]
    again = exported(release_of([sample], {one.key: one for one in record.tools}), "confetti")
    assert again == exported(content(TALK), "confetti")


def test_the_papers_scoring_reads_the_files(tmp_path: Path) -> None:
    export_release(stream_of(content(TALK)), "confetti", tmp_path)
    answers = read_answers(tmp_path)
    assert (len(answers.calls), [len(chain) for chain in answers.chains]) == (3, [3])
    assert not answers.problems


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "tool_calls": [{"name": "find_ferry"}]},
        {"role": "pilot", "content": "Hm."},
        4,
        {"role": "assistant", "content": "Hm.", "acts": ["sing"]},
    ],
)
def test_a_dialogue_that_can_not_be_read_says_why(tmp_path: Path, message: object) -> None:
    export_release(stream_of(content(TALK)), "confetti", tmp_path)
    file = tmp_path / "BFCL_v2_dialogacts.json"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    rows[-1]["question"][0].append(message)
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    [record] = read_confetti_samples(tmp_path)
    assert record.sample is None
    assert record.problems[0].kind == "bad_record"


def test_a_call_that_is_due_at_the_end_is_kept_as_such(tmp_path: Path) -> None:
    due = CallTurn(calls=(call("find_ferry", port="Voss"),))
    export_release(
        stream_of(content(TALK.with_changes(turns=(*TALK.turns[:-1], due)))), "confetti", tmp_path
    )
    [record] = read_confetti_samples(tmp_path)
    assert record.sample is not None
    last = record.sample.turns[-1]
    assert isinstance(last, CallTurn)
    assert (last.executed, [one.arguments for one in last.calls]) == (False, [{"port": "Voss"}])
