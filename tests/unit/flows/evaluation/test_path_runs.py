"""Candidates driven through multi-step samples: who is right, who errs in which way, who
recovers.
"""

from random import Random
from typing import Any

import pytest

from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.generators.stages import StageContext
from callwright.llm.chat import Completion, Prompt
from callwright.validators.judges import AnswerScore, Judgement
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import CallError, MultiStepRun, ParameterCount, Sample
from tests.support.flows.inn_world import TOOLS, Err, Guide, Inns, inn_and_tour_sample, inn_sample

INNS = {tool.key: tool for tool in TOOLS}
SAMPLES = [
    inn_sample("Rome"),
    inn_sample("Porto"),
    inn_and_tour_sample("Lyon"),
    inn_and_tour_sample("Oslo"),
]
PAPER, CODE = PathRun("paths", "guide"), PathRun("paths", "guide", mode="as_published_code")
BOTH = pytest.mark.parametrize("run", [PAPER, CODE], ids=["as_paper", "as_published_code"])
SEEDS = 25


class Judge:
    """Says what it was told to say of calls and of answers."""

    name = "judge"

    def __init__(self, *, agree: bool = True, score: int = 2) -> None:
        self._agree, self._score = agree, score
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt, answer: type, *, sample_index: int = 0) -> Any:
        self.asked.append(prompt)
        if answer is Judgement:
            return Judgement(agree=self._agree, reason="It reads so.")
        if self._score > 2:
            raise ReplyError("No number.")
        return AnswerScore(score=self._score, reason="It reads so.")


class PathRunRecords:
    """The records of one run, by what they are."""

    def __init__(self, records: list[Any]) -> None:
        [self.run] = [one for one in records if isinstance(one, MultiStepRun)]
        self.errors = [one for one in records if isinstance(one, CallError)]
        self.counts = {
            one.parameter_type: (one.due, one.wrong)
            for one in records
            if isinstance(one, ParameterCount)
        }


async def drive(
    sample: Sample,
    err: Err | None = None,
    run: PathRun = PAPER,
    judge: Judge | None = None,
    **options: Any,
) -> PathRunRecords:
    environments = {"inns": options.pop("inns", None) or Inns()}
    context = StageContext(Guide([sample], err, **options), Random(1), INNS, environments)
    return PathRunRecords(await run_path(sample, context, run=run, judge=judge))


def always(change: Any) -> Err:
    """Change one call of a step, however often it is tried."""

    def err(step: int, calls: list[dict[str, Any]], tries: int) -> list[dict[str, Any]]:
        return change(step, calls) or calls

    return err


@BOTH
async def test_a_perfect_candidate_is_right_everywhere(run: PathRun) -> None:
    for sample in SAMPLES:
        done = await drive(sample, run=run, judge=Judge())
        kept = done.run
        assert (kept.success, kept.error_type) == (True, "")
        assert kept.correct_calls == kept.total_calls > 0
        assert kept.steps == kept.shortest == 3
        assert kept.turns == 4
        assert (kept.completeness, kept.correctness) == (2, 2)
        assert done.errors == []
        assert all(wrong == 0 for _, wrong in done.counts.values())


def err_func(rng: Random) -> Err:
    """Calls a function that is not due, or none that there is, in the place of the one due at a
    step.
    """
    at = rng.randrange(3)
    ferry = {
        "name": "Ferry_Times",
        "arguments": rng.choice([{"port": "Porto"}, {}, {"port": "Porto", "mood": "gay"}]),
    }
    other = rng.choice([ferry, {"name": "Find_Hotel", "arguments": {}}])
    return always(lambda step, calls: [other, *calls[1:]] if step == at else calls)


def err_missing(rng: Random) -> Err:
    """Leaves a parameter out that is needed."""
    at = rng.randrange(3)

    def change(step: int, calls: list[dict[str, Any]]) -> None:
        if step == at:
            needed = {
                "Find_City": ["query"],
                "Search_Inns": ["dest_id", "arrival_date", "sort_by"],
                "Inn_Details": ["inn_id"],
            }
            del calls[0]["arguments"][rng.choice(needed[calls[0]["name"]])]

    return always(change)


def err_hallucination(rng: Random) -> Err:
    """Gives a parameter that nobody asked for, or that no tool has."""
    at = rng.randrange(3)

    def change(step: int, calls: list[dict[str, Any]]) -> None:
        if step == at:
            name, value = (
                ("currency", "NOK")
                if calls[0]["name"] == "Inn_Details" and rng.random() < 0.5
                else ("mood", "gay")
            )
            calls[0]["arguments"][name] = value

    return always(change)


def err_value(rng: Random) -> Err:
    """Gives a parameter another value."""
    at = rng.randrange(3)

    def change(step: int, calls: list[dict[str, Any]]) -> None:
        if step == at:
            name = rng.choice(sorted(calls[0]["arguments"]))
            given = calls[0]["arguments"][name]
            calls[0]["arguments"][name] = (
                given + 1 if isinstance(given, int) else rng.choice([f"{given}-x", "rating", 7])
            )

    return always(change)


@pytest.mark.parametrize(
    ("error_type", "make"),
    [
        ("func_error", err_func),
        ("param_missing", err_missing),
        ("hallucination", err_hallucination),
        ("value_error", err_value),
        ("stop_early", None),
    ],
)
async def test_each_way_to_err_is_called_by_its_name(error_type: str, make: Any) -> None:
    right = 0
    for seed in range(SEEDS):
        rng, sample = Random(seed), SAMPLES[seed % len(SAMPLES)]
        options = {"stop_after": rng.randint(1, 2)} if make is None else {}
        done = await drive(
            sample,
            make(rng) if make else None,
            PAPER._replace(turn_limit=6),
            Judge(agree=False),
            **options,
        )
        assert not done.run.success
        assert done.run.correct_calls < done.run.total_calls
        right += done.run.error_type == error_type
    assert right / SEEDS >= 0.99


async def test_a_wrong_call_is_told_and_may_be_made_good() -> None:
    def err(step: int, calls: list[dict[str, Any]], tries: int) -> list[dict[str, Any]]:
        if step == 1 and tries < 2:
            calls[0]["arguments"] = (
                {"dest_id": "c-99"} if tries == 0 else calls[0]["arguments"] | {"adults": "two"}
            )
        return calls

    done = await drive(inn_sample("Rome"), err)
    assert (done.run.success, done.run.steps, done.run.shortest) == (True, 5, 3)
    assert [(one.turn, one.error_type, one.parameter) for one in done.errors] == [
        (1, "param_missing", "arrival_date"),
        (2, "value_error", "adults"),
    ]
    assert [one.parameter_type for one in done.errors] == ["date", "people"]
    assert "arrival_date" in str(done.run.messages[1].calls[0].observation)
    assert done.counts["date"] == (1, 1)
    assert done.counts["id"] == (2, 0)


@BOTH
async def test_other_words_for_the_same_call_count_by_the_matching_that_catches_them(
    run: PathRun,
) -> None:
    def other_order(step: int, calls: list[dict[str, Any]]) -> None:
        calls[0]["arguments"] = dict(reversed(calls[0]["arguments"].items()))

    def default_left_out(step: int, calls: list[dict[str, Any]]) -> None:
        if step == 1:
            del calls[1]["arguments"]["page"]

    def other_name(step: int, calls: list[dict[str, Any]]) -> None:
        if step == 0:
            calls[0]["arguments"]["query"] = "Roma"

    rome = inn_and_tour_sample("Rome")
    deaf = Inns(knows_names=False)
    for change, options, expected in (
        (other_order, {}, {"rule"}),
        (default_left_out, {}, {"rule", "response"}),
        (other_name, {}, {"rule", "response"}),
        (other_name, {"inns": deaf, "judge": Judge()}, {"rule", "judge"}),
    ):
        done = await drive(rome, always(change), run, **options)
        assert done.run.success, change
        assert {call.matched for turn in done.run.messages for call in turn.calls} - {
            "free"
        } == expected
        assert done.run.correct_calls == done.run.total_calls
    assert not (
        await drive(rome, always(other_name), run, inns=deaf, judge=Judge(agree=False))
    ).run.success
    assert not (await drive(rome, always(other_name), run, inns=deaf)).run.success


@BOTH
async def test_what_can_not_be_read_counts_against_the_candidate(run: PathRun) -> None:
    class Mumbler(Guide):
        async def ask(self, prompt: Prompt, answer: type, *, sample_index: int = 0) -> Any:
            raise ReplyError("The reply is not a NextCalls: it begins 'Hm'.")

    sample = inn_sample("Rome")
    context = StageContext(Mumbler([sample]), Random(1), INNS, {})
    done = PathRunRecords(await run_path(sample, context, run=run._replace(turn_limit=3)))
    assert (done.run.success, done.run.error_type) == (False, "unreadable")
    assert done.run.turns == (3 if run is PAPER else 1)
    assert "NextCalls" in done.run.messages[0].problem


@pytest.mark.parametrize(
    ("text", "error_type"),
    [
        ('I call {"name": "Find_City", "arguments": {"query": "Rome"}}', "turn_limit"),
        ("I can't do that.", "stop_early"),
        ('{"name": "Find_City", "arguments": {', "unreadable"),
        ("", "unreadable"),
    ],
)
async def test_calls_in_words_are_read_where_the_provider_has_no_calls_of_its_own(
    text: str, error_type: str
) -> None:
    class RunWriter(Guide):
        async def complete(
            self, prompt: Prompt, tools: Any = (), *, sample_index: int = 0
        ) -> Completion:
            return Completion(text, None)

    sample = inn_sample("Rome")
    context = StageContext(RunWriter([sample]), Random(1), INNS, {})
    done = PathRunRecords(
        await run_path(sample, context, run=PAPER._replace(strategy="native", turn_limit=1))
    )
    assert done.run.error_type == error_type


async def test_an_answer_is_held_against_what_its_candidate_saw_or_against_the_gold() -> None:
    for run, is_seen in ((PAPER, False), (CODE, True)):
        judge = Judge(score=1)
        done = await drive(inn_sample("Rome"), run=run, judge=judge, stop_after=1)
        assert (done.run.error_type, done.run.completeness, done.run.correctness) == (
            "stop_early",
            1,
            1,
        )
        assert ("Inn_Details" in judge.asked[-1].messages[-1].content) == is_seen


async def test_without_a_judge_or_a_word_of_its_own_no_answer_is_scored() -> None:
    sample = inn_sample("Rome")
    assert (await drive(sample)).run.completeness is None
    done = await drive(sample, judge=Judge(score=3))
    assert (done.run.success, done.run.completeness, done.run.correctness) == (True, None, None)
