"""Grounding: for each argument where it is said, or what it is derived from; the rest is left to
readers.
"""

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from callwright.language.text import fold
from callwright.language.wording import content_keys
from callwright.validators.checks.grounding import check_grounding, ground
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)
from tests.support.sampling import slow

MULTI_TURN = ("Based", "mQmA", "mQsA", "sQmA", "SO_case1", "SO_case2", "mSv", "External", "IS")


def judge(
    properties: dict[str, JsonSchema], arguments: dict[str, Any], *turns: Turn | str, **call: Any
) -> Verdict:
    tool = Tool(
        name="book", description="Book it.", category="x", parameters={"properties": properties}
    )
    gold = GoldCall(**{"tool": "book", "arguments": arguments, **call})
    said = tuple(UserTurn(text=turn) if isinstance(turn, str) else turn for turn in turns)
    sample = Sample(
        kind="perfect",
        language="en",
        category="x",
        candidates=(tool.key,),
        turns=(*said, CallTurn(calls=(gold,))),
    )
    return ground(sample, [tool])


def test_a_span_of_the_request_says_an_argument() -> None:
    verdict = judge(
        {"hotel": {"type": "string"}}, {"hotel": "Blue Hotel"}, "A room at the Blue Hotel, please."
    )
    assert verdict.decision == "proved"
    assert verdict.score == 1.0
    assert verdict.evidence == (
        Evidence(argument="hotel", kind="span", turn=0, start=14, end=24, quote="Blue Hotel"),
    )


def test_the_latest_turn_is_looked_at_first_and_the_message_counts() -> None:
    message = Message(app="mail", text="We meet in Rome.")
    verdict = judge(
        {"city": {"type": "string"}},
        {"city": "Rome"},
        "Rome.",
        UserTurn(text="See mail.", external=message),
    )
    (evidence,) = verdict.evidence
    assert (evidence.turn, evidence.in_message, evidence.quote) == (1, True, "Rome")


def test_what_nothing_says_is_named_as_an_open_argument() -> None:
    schema: dict[str, JsonSchema] = {"city": {"type": "string"}, "guests": {"type": "integer"}}
    verdict = judge(schema, {"city": "Rome", "guests": 2}, "A table in Rome for the usual round.")
    assert (verdict.grade, verdict.open_arguments) == ("open", ("guests",))


def test_an_argument_is_derived_from_an_earlier_result_by_its_path() -> None:
    result = ResultTurn(results=({"hotels": [{"id": "h1"}, {"id": "h2", "rooms": 3}]},))
    verdict = judge({"id": {"type": "string"}}, {"id": "h2"}, "The second, please.", result)
    (evidence,) = verdict.evidence
    assert (evidence.kind, evidence.turn, evidence.path) == (
        "response",
        1,
        "turns[1].results[0].hotels[1].id",
    )


def test_what_the_system_message_says_is_evidence_of_its_own_kind() -> None:
    tool = Tool(
        name="book",
        description="",
        category="x",
        parameters={"properties": {"card": {"type": "string"}}},
    )
    due = CallTurn(calls=(GoldCall(tool="book", arguments={"card": "C-77"}),))
    sample = Sample(
        kind="sqsa",
        language="en",
        category="x",
        candidates=(tool.key,),
        turns=(UserTurn(text="Pay."), due),
    )
    assert ground(sample, [tool]).decision == "unproved"
    told = ground(sample.with_changes(system_message="The user's card is C-77."), [tool])
    (evidence,) = told.evidence
    assert (told.decision, evidence.kind, evidence.turn, evidence.quote) == (
        "proved",
        "context",
        None,
        "C-77",
    )


def test_where_nothing_is_claimed_there_is_nothing_to_look_for() -> None:
    verdict = judge({}, {}, "Book it.")
    assert (verdict.decision, verdict.reason) == ("proved", "There is no argument to look for.")
    none_due = Sample(
        kind="irrelevant",
        language="en",
        category="x",
        candidates=(),
        turns=(UserTurn(text="Hm."), CallTurn()),
    )
    assert not check_grounding.applies(none_due)


def test_each_snapshot_knows_only_what_was_said_before_it() -> None:
    tool = Tool(
        name="book",
        description="",
        category="x",
        parameters={"properties": {"city": {"type": "string"}}},
    )
    due = CallTurn(calls=(GoldCall(tool="book", arguments={"city": "Rome"}),))
    turns = (UserTurn(text="Book it."), due, UserTurn(text="In Rome."), due)
    sample = Sample(kind="sqsa", language="en", category="x", candidates=(tool.key,), turns=turns)
    verdict = ground(sample, [tool])
    assert (verdict.decision, verdict.score) == ("unproved", 0.5)
    assert "Before turn 1" in verdict.reason


def conversations(shared: Path, language: Any) -> Iterator[tuple[Sample, list[Tool]]]:
    for kind in MULTI_TURN:
        path = shared / f"data/hammerbench/sample100/{language}/multi-turn/HammerBench_{kind}.json"
        for record in json.loads(path.read_text(encoding="utf-8")):
            tools = {
                tool["name"]: Tool(**tool, category="x")
                for tool in record["multiple_tools"] + record["single_tool"]
            }
            turns = tuple(_turn(message) for message in record["messages"])
            keys = tuple(tool.key for tool in tools.values())
            sample = Sample(
                kind=kind, language=language, category="x", candidates=keys, turns=turns
            )
            yield sample, list(tools.values())


def _turn(message: dict[str, Any]) -> Turn:
    content = message["content"]
    if message["role"] == "function call":
        arguments = {name: value for name, value in content["arguments"].items() if value != ""}
        return CallTurn(calls=(GoldCall(tool=content["name"], arguments=arguments),))
    if message["role"] == "assistant":
        return ReplyTurn(text=content)
    text, _, attached = content.partition("<EK>:")
    return UserTurn(text=text, external=Message(app="mail", text=attached) if attached else None)


@cache
def grounded(shared: Path, language: str, step: int) -> list[tuple[Sample, list[Tool], Verdict]]:
    """One of `step` published conversations with its tools and the verdict on it: looked at once
    for all that is asked of them.
    """
    seen = islice(conversations(shared, language), 0, None, step)
    return [(sample, tools, ground(sample, tools)) for sample, tools in seen]


@pytest.mark.parametrize(
    ("language", "step", "least"),
    [("zh", 3, 0.71), ("en", 3, 0.5), slow("zh", 1, 0.69), slow("en", 1, 0.49)],
)
def test_most_of_what_people_made_is_said_and_none_is_contradicted(
    shared: Path, language: str, step: int, least: float
) -> None:
    verdicts = [verdict for *_, verdict in grounded(shared, language, step)]
    proved = sum(verdict.decision == "proved" for verdict in verdicts)
    assert proved / len(verdicts) >= least
    assert not [verdict.reason for verdict in verdicts if verdict.decision == "contradicted"]


@pytest.mark.parametrize(("language", "step"), [("zh", 3), ("en", 3), slow("zh", 1), slow("en", 1)])
def test_a_value_that_was_said_nowhere_is_not_found(shared: Path, language: str, step: int) -> None:
    good = [
        (sample, tools)
        for sample, tools, verdict in grounded(shared, language, step)
        if verdict.decision == "proved" and sample.gold
    ]
    pool: dict[tuple[str, type], list[Any]] = {}
    for sample, _ in good:
        for name, value in sample.gold[0].arguments.items():
            pool.setdefault((name, type(value)), []).append(value)
    rng = Random(11)
    broken = [swapped for sample, tools in good if (swapped := _swapped(sample, pool, rng, tools))]
    proved = [verdict for verdict in broken if verdict.decision == "proved"]
    assert len(broken) > 190 // step
    assert len(proved) / len(broken) < 0.02


def _swapped(sample: Sample, pool: Any, rng: Random, tools: list[Tool]) -> Verdict | None:
    """The verdict on `sample` with one argument of its last call taken from another record; None
    where that was said.
    """
    call = sample.gold[0]
    if not call.arguments:
        return None
    name = rng.choice(sorted(call.arguments))
    value = rng.choice(pool[name, type(call.arguments[name])])
    users = [turn for turn in sample.turns if isinstance(turn, UserTurn)]
    texts = [turn.text for turn in users] + [turn.external.text for turn in users if turn.external]
    words = {key.deep for text in texts for key in content_keys(text)}
    used = {
        fold(str(other))
        for snapshot in sample.snapshots()
        for due in snapshot.calls
        for other in due.arguments.values()
    }
    said = (
        any(fold(str(value)) in fold(text) for text in texts)
        or {key.deep for key in content_keys(str(value))} <= words
    )
    if said or fold(str(value)) in used:
        return None
    last = max(index for index, turn in enumerate(sample.turns) if isinstance(turn, CallTurn))
    wrong = CallTurn(calls=(call.with_changes(arguments={**call.arguments, name: value}),))
    return ground(
        sample.with_changes(turns=(*sample.turns[:last], wrong, *sample.turns[last + 1 :])), tools
    )
