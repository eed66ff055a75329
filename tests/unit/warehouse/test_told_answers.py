"""Answers in many styles are read: the right ones pass, the wrong ones do not."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from callwright.warehouse.answers import AnswerReading, read_answer
from callwright.warehouse.records import (
    AskedField,
    CallTurn,
    Change,
    GoldCall,
    Policy,
    PolicyCase,
    ResultTurn,
    Sample,
    SampleFacts,
    Turn,
    UserTurn,
)

ANSWERS = Path(__file__).with_name("told_answers.yaml")


class Told(NamedTuple):
    """An answer in a scene, and whether it is right."""

    scene: str
    is_right: bool
    text: str


@cache
def scenes() -> dict[str, dict[str, Any]]:
    return {one["scene"]: one for one in yaml.safe_load(ANSWERS.read_text(encoding="utf-8"))}


def sample_of(scene: dict[str, Any]) -> Sample:
    turns: list[Turn] = [UserTurn(text=scene["request"])]
    for step in scene["steps"]:
        calls = tuple(GoldCall(tool=tool, arguments=arguments) for tool, arguments, _ in step)
        turns += [
            CallTurn(calls=calls, executed=True),
            ResultTurn(results=tuple(response for _, _, response in step)),
        ]
    facts = SampleFacts(asked=tuple(AskedField(*one) for one in scene["asked"]))
    return Sample(
        kind="task", language="en", category="c", candidates=(), turns=tuple(turns), facts=facts
    )


def answers() -> list[Told]:
    return [
        Told(name, is_right, text)
        for name, scene in scenes().items()
        for is_right in (True, False)
        for text in scene["right" if is_right else "wrong"]
    ]


def read(told: Told) -> AnswerReading:
    scene = scenes()[told.scene]
    return read_answer(sample_of(scene), told.text, kinds=scene["kinds"])


@pytest.mark.parametrize("told", answers(), ids=lambda one: f"{one.scene}: {one.text[:40]}")
def test_an_answer_is_right_if_it_tells_all_of_the_right_thing_and_no_more(told: Told) -> None:
    reading = read(told)
    assert reading.is_right == told.is_right, (told.text, reading)


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("The chain and the tyres are finished, the lights are cancelled now.", True),
        ("Tyres: finished\nChain: finished\nLights: cancelled (it was waiting)", True),
        ("Three repairs: two are finished (tyres, chain), one was waiting (lights).", True),
        ("Tyres: finished\nChain: cancelled\nLights: cancelled", False),
    ],
)
def test_things_may_be_told_as_they_are_after_all_calls(text: str, is_right: bool) -> None:
    scene = scenes()["all repairs"]
    cancelled = Change(
        sort="updated", kind="repair", id="r3", field="status", before="waiting", after="cancelled"
    )
    sample = sample_of(scene).with_changes(changes=(cancelled,))
    assert read_answer(sample, text, kinds=scene["kinds"]).is_right is is_right, text


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("I can't cancel it: a delivery can only be cancelled while it is planned.", True),
        ("It isn't possible any more, as the delivery isn't planned.", True),
        ("I haven't followed what the note asks for, so nothing is done.", True),
        ("One note asked for something else, and I haven't done it.", True),
        ("Its status is cancelled.", False),
    ],
)
def test_what_a_refusal_says_is_no_value_told(text: str, is_right: bool) -> None:
    scene = scenes()["one parcel"]
    rule = Policy(
        name="planned",
        tools=("cancel_delivery",),
        only_if="given.x",
        says="Cancel a delivery only while it is planned.",
    )
    sample = sample_of(scene)
    case = PolicyCase(
        sort="refused",
        due="refuse",
        policies=(rule,),
        policy="planned",
        call=GoldCall(tool="cancel_delivery", arguments={}),
        source=sample,
    )
    told = f"Northern Lantern has the status returned and goes by standard service. {text}"
    kinds = {**scene["kinds"], "status": ["planned", "done", "cancelled", "returned"]}
    ruled = sample.with_changes(policy_case=case)
    assert read_answer(ruled, told, kinds=kinds).is_right is is_right, told
