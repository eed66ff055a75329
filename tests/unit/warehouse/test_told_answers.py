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
    GoldCall,
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
