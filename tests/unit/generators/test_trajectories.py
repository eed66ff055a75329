"""Merged trajectories: the same dialogue in another shape, with snapshots that stay true."""

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.generators.dialogues.trajectories import merge_trajectories, obstacle
from callwright.generators.imports.papers import read_hammerbench
from callwright.generators.stages import StageContext
from callwright.language.values import locate
from callwright.testing import ScriptedModel
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import CallTurn, Message, ReplyTurn, Sample, Transform, UserTurn
from tests.support.generators.dialogue_parts import (
    TABLE,
    TOOLS,
    VALUES,
    context,
    derivation,
    dialogue,
    imperfect,
)

MERGED = st.sampled_from(["mQmA", "mQsA", "sQmA"])
ORDERS = st.permutations(list(VALUES)).flatmap(
    lambda names: st.integers(2, 4).map(lambda count: names[:count])
)


async def merge(source: Sample, transform: Transform, seed: int) -> Sample:
    [sample] = await merge_trajectories(derivation(source, transform, seed), context())
    return sample


def told_at_once(sample: Sample) -> list[int]:
    """How many arguments each answer adds."""
    counts = [len(snapshot.calls[0].arguments) for snapshot in sample.snapshots()]
    return [after - before for before, after in pairwise(counts)]


def questions(sample: Sample) -> list[str]:
    return [turn.text for turn in sample.turns if isinstance(turn, ReplyTurn)]


@given(MERGED, ORDERS, st.integers(0, 2**32))
async def test_the_last_snapshot_is_the_source_s_and_none_forgets_anything(
    transform: Transform, names: list[str], seed: int
) -> None:
    source = dialogue(*names)
    sample = await merge(source, transform, seed)
    assert sample.gold[0].arguments == source.gold[0].arguments
    assert sample == await merge(source, transform, seed)
    snapshots = [snapshot.calls[0] for snapshot in sample.snapshots()]
    for before, after in pairwise(snapshots):
        assert before.arguments.items() < after.arguments.items()
        assert set(before.evidence) < set(after.evidence)


@given(MERGED, ORDERS, st.integers(0, 2**32))
async def test_every_piece_of_evidence_quotes_words_that_say_the_value(
    transform: Transform, names: list[str], seed: int
) -> None:
    sample = await merge(dialogue(*names), transform, seed)
    for snapshot in sample.snapshots():
        [call] = snapshot.calls
        assert {proof.argument for proof in call.evidence} == set(call.arguments)
        for proof in call.evidence:
            turn = snapshot.prefix[proof.turn or 0]  # nothing is known before it is said
            assert isinstance(turn, UserTurn)
            assert turn.text[proof.start : proof.end] == proof.quote
            assert locate(
                call.arguments[proof.argument], TABLE.properties[proof.argument], proof.quote
            )


@given(ORDERS, st.integers(0, 2**32))
async def test_each_kind_merges_what_its_name_says(names: list[str], seed: int) -> None:
    source = dialogue(*names)
    asked = [question.removeprefix("Sure. ") for question in questions(source)]

    def asked_at_once(sample: Sample) -> list[int]:
        return [sum(one in question for one in asked) for question in questions(sample)]

    both = await merge(source, "mQmA", seed)
    assert max(asked_at_once(both)) > 1
    assert asked_at_once(both) == told_at_once(both)
    several_questions = await merge(source, "mQsA", seed)
    assert max(asked_at_once(several_questions)) > 1
    assert set(told_at_once(several_questions)) == {1}
    several_answers = await merge(source, "sQmA", seed)
    assert set(asked_at_once(several_answers)) == {1}
    assert max(told_at_once(several_answers)) > 1


async def test_a_message_goes_along_with_the_answer_that_leans_on_it() -> None:
    source = dialogue("date", "guests")
    turns = list(source.turns)
    turns[3] = UserTurn(
        text="The day of the visit is in her mail.",
        external=Message(app="email", text="March 5, 2027!"),
    )
    for at in (4, 7):
        call = turns[at].calls[0]  # type: ignore[union-attr]
        proofs = [
            (
                proof.with_changes(start=0, end=13, quote="March 5, 2027", in_message=True)
                if proof.argument == "date"
                else proof
            )
            for proof in call.evidence
        ]
        turns[at] = CallTurn(calls=(call.with_changes(evidence=tuple(proofs)),))
    sample = await merge(source.with_changes(turns=tuple(turns)), "mQmA", 3)
    answer = sample.turns[3]
    assert isinstance(answer, UserTurn)
    assert answer.external == Message(app="email", text="March 5, 2027!")
    [proof] = [one for one in sample.gold[0].evidence if one.argument == "date"]
    assert (proof.turn, proof.start, proof.end, proof.in_message) == (3, 0, 13, True)
    both = [
        UserTurn(text=turn.text, external=answer.external) if index in (3, 6) else turn
        for index, turn in enumerate(turns)
    ]  # type: ignore[union-attr]
    assert "messag" in obstacle(source.with_changes(turns=tuple(both)), TOOLS)


def changed(source: Sample, at: int, **arguments: object) -> Sample:
    turns = list(source.turns)
    call = source.turns[at].calls[0]  # type: ignore[union-attr]
    turns[at] = CallTurn(calls=(call.with_changes(arguments={**call.arguments, **arguments}),))
    return source.with_changes(turns=tuple(turns))


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (imperfect(), "0 question"),
        (dialogue("date"), "1 question"),
        (changed(dialogue("date", "time"), 7, date="2027-03-06"), "no longer what they were"),
        (changed(dialogue("date", "time"), 4, time="19:30"), "tells nothing new"),
        (dialogue("date", "time").with_changes(candidates=()), "not among the candidates"),
        (
            dialogue("date", "time").with_changes(turns=dialogue("date", "time").turns[:-1]),
            "no question with its answer",
        ),
        (
            imperfect().with_changes(turns=(UserTurn(text="Hi"), ReplyTurn(text="Hi"))),
            "does not open",
        ),
    ],
)
async def test_what_cannot_be_merged_is_told_in_advance(sample: Sample, reason: str) -> None:
    assert reason in obstacle(sample, TOOLS)
    with pytest.raises(RecordError, match=reason):
        await merge(sample, "mQmA", 1)


async def test_another_transform_is_refused() -> None:
    with pytest.raises(RecordError, match="not as 'IS'"):
        await merge(dialogue("date", "time"), "IS", 1)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_published_dialogues_can_be_merged_too(shared: Path, language: str) -> None:
    path = shared / f"data/hammerbench/sample100/{language}/multi-turn/HammerBench_Based.json"
    records = list(read_hammerbench(path))
    at_hand = StageContext(
        ScriptedModel({}),
        Random(1),
        {tool.key: tool for record in records for tool in record.tools},
    )
    sources = [
        record.sample
        for record in records
        if record.sample and not obstacle(record.sample, at_hand.tools)
    ]
    assert len(sources) > 50
    for number, source in enumerate(sources):
        transform: Transform = ("mQmA", "mQsA", "sQmA")[number % 3]
        [sample] = await merge_trajectories(derivation(source, transform, number), at_hand)
        assert sample.gold[0].arguments == source.gold[0].arguments
        assert sample.kind == transform
        for proof in sample.gold[0].evidence:  # located where the data say nothing of it
            said = sample.turns[proof.turn or 0]
            assert isinstance(said, UserTurn)
            assert said.text[proof.start : proof.end] == proof.quote
