"""Plans and conversations, by every strategy and notation, over a real wire: who errs how is
told apart by the numbers.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import orjson
import pytest

from callwright.flows.evaluation.evaluating import answer_board, evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.predictions import PromptingStrategy
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.llm.models import read_model
from callwright.warehouse.records import CallTurn, GoldCall, Sample, Tool
from tests.support.flows.model_server import ModelServer, ServedRequest
from tests.support.flows.plan_release import EASY, PLANS, POOL, TALK, TOOLS, release
from tests.support.flows.small_builds import (
    one,
    row_counts,
    settings_of,
    stub_settings,
    warehouse_of,
)

STRATEGIES = ("direct", "route_then_fill", "backward")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = settings_of(tmp_path)
    release(found, *PLANS)
    return found


def candidate(server: ModelServer, label: str) -> Candidate:
    given = stub_settings(server, name=f"openai/{label}", concurrency=1)
    return Candidate(label=label, model=read_model(given.pop("name"), given))


def template() -> Candidate:
    return Candidate(label="near", model=read_model("template/v1"))


class Heard(SilentProgress):
    """Keeps what is said."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


def evaluate(
    settings: Settings, who: Candidate, said: list[str] | None = None, **conditions
) -> None:
    heard = Heard([] if said is None else said)
    asyncio.run(evaluate_release("v1", [who], settings, heard, Conditions(**conditions)))


def board(
    settings: Settings, label: str, run: int = 0, difficulty: str = "", strategy: str = "direct"
):
    rows = answer_board("v1", settings)
    [row] = [
        row
        for row in rows
        if (row["candidate"], row["run"], row["slice_value"], row["strategy"])
        == (label, run, difficulty, strategy)
    ]
    return row


def gold_of(asked: ServedRequest) -> tuple[GoldCall, ...]:
    return next(sample.gold for sample in PLANS if sample.request in asked.question)


def as_json(calls: tuple[GoldCall, ...]) -> str:
    return orjson.dumps([{"name": one.tool, "arguments": one.arguments} for one in calls]).decode()


def right(asked: ServedRequest) -> str:
    return as_json(gold_of(asked))


def in_another_format(asked: ServedRequest) -> str:
    calls = ", ".join(
        f"{one.tool}({', '.join(f'{name}={value!r}' for name, value in one.arguments.items())})"
        for one in gold_of(asked)
    )
    return f"[{calls}]"


def unstable(asked: ServedRequest) -> str:
    return right(asked) if not asked.times else as_json(gold_of(asked)[:1] * (asked.times + 2))


def inventing(asked: ServedRequest) -> str:
    return as_json(tuple(one.with_changes(tool=f"magic_{one.tool}") for one in gold_of(asked)))


def silent(_asked: ServedRequest) -> str:
    return "Sorry, none of my tools can do this."


@pytest.mark.parametrize(
    ("behave", "syntax", "repaired", "ast", "invented", "election"),
    [
        (right, 1, 1, 1, 0, 1),
        (in_another_format, 0, 1, 1, 0, 1),
        (unstable, 1, 1, 1, 0, 0),
        (inventing, 1, 1, 0, 1, 1),
        (silent, 0, 0, 0, 0, 1),
    ],
)
def test_candidates_are_told_apart_by_the_numbers_that_should_tell_them_apart(
    model_server: ModelServer,
    settings: Settings,
    behave: Callable[[ServedRequest], str],
    syntax: int,
    repaired: int,
    ast: int,
    invented: int,
    election: int,
) -> None:
    model_server.behaviour = behave
    evaluate(settings, candidate(model_server, "far"), runs=3)
    row = board(settings, "far")
    assert (row["syntax_validity"], row["syntax_validity_repaired"]) == (syntax, repaired)
    assert (row["ast"], row["ast_macro"], row["structure"], row["routing"]) == (ast, ast, ast, ast)
    assert (row["invented"], row["election_stability"]) == (invented, election)
    assert (row["n_plans"], row["n_answers"]) == (len(PLANS), len(PLANS))
    if behave is unstable:
        assert board(settings, "far", run=1)["ast"] == 0, "later runs are scored by themselves"
        assert 0 < row["levenshtein_stability"] < 1
    else:
        assert row["levenshtein_stability"] == 1
    levels = {
        one["slice_value"]
        for one in answer_board("v1", settings)
        if one["slice_by"] == "difficulty"
    }
    assert levels == {"easy", "medium", "hard"}


@pytest.mark.parametrize(
    ("strategy", "notation"),
    [
        pytest.param(strategy, notation, marks=[pytest.mark.slow] if (row + column) % 2 else [])
        for row, strategy in enumerate(STRATEGIES)
        for column, notation in enumerate(("json", "yaml"))
    ]
    + [("native", "json")],
)
def test_every_strategy_and_notation_answers_right_where_the_candidate_understands(
    model_server: ModelServer, settings: Settings, strategy: str, notation: str
) -> None:
    asked: list[str] = []
    model_server.behaviour = lambda question: asked.append(question.question)  # type: ignore[func-returns-value]
    evaluate(
        settings, candidate(model_server, "far"), prompting=PromptingStrategy(strategy, notation)
    )
    row = board(settings, "far", strategy=PromptingStrategy(strategy, notation).label)
    assert (row["routing"], row["syntax_validity"]) == (1, 1)
    assert row["ast"] == 1, "a plain baseline reads all three requests whole"
    rounds = {"direct": 1, "native": 1, "route_then_fill": 2, "backward": 2}[strategy]
    assert len(asked) >= rounds * len(PLANS)
    assert all("ground_truth" not in text and "difficulty" not in text for text in asked)
    before = row_counts(settings)
    evaluate(
        settings, candidate(model_server, "far"), prompting=PromptingStrategy(strategy, notation)
    )
    assert row_counts(settings) == before


def test_strategies_are_kept_apart_and_a_router_may_be_another_model(
    model_server: ModelServer, settings: Settings
) -> None:
    model_server.behaviour = lambda asked: '["magic"]' if "magician" in asked.question else None
    evaluate(settings, template())
    router = candidate(model_server, "router").model
    evaluate(
        settings,
        template(),
        prompting=PromptingStrategy("route_then_fill", router=router.name),
        router=router,
    )
    assert model_server.requests == len(PLANS), (
        "the router is asked for the names, the candidate for the rest"
    )
    strategies = {row["strategy"] for row in answer_board("v1", settings)}
    assert strategies == {"direct", "route_then_fill(openai/router)"}
    assert one(settings, "select count(*) from predictions") == 2 * len(PLANS)


def test_native_tools_have_names_that_a_provider_takes_and_are_as_many_as_it_takes(
    model_server: ModelServer, tmp_path: Path
) -> None:
    """Names with dots, hyphens and more than 64 characters come back as they are; of 201 tools
    those named are handed over.
    """
    settings = settings_of(tmp_path / "many")
    long = f"spa.close-pool.{'x' * 60}"
    odd = [one.with_changes(name=long if one is POOL else f"spa.{one.name}-v2") for one in TOOLS]
    others = [
        POOL.with_changes(name=f"unrelated.{number}", description="Nothing.")
        for number in range(198)
    ]
    names = dict(zip([one.name for one in TOOLS], [one.name for one in odd], strict=True))
    samples = [_with_tools(sample, odd, names) for sample in PLANS]
    many = _with_tools(EASY, [*odd, *others], names)
    release(settings, *samples, many, tools=(*odd, *others))
    model_server.most_tools = 128
    model_server.behaviour = lambda asked: (
        orjson.dumps([long]).decode() if "Name the tools" in asked.question else None
    )
    said: list[str] = []
    evaluate(settings, candidate(model_server, "far"), said, prompting=PromptingStrategy("native"))
    shown = {name for names in model_server.tools for name in names}
    assert shown
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in shown)
    assert board(settings, "far", strategy="native")["ast"] == 1
    assert sorted(map(len, model_server.tools)) == [0, 1, 3, 3, 3], (
        "the names are asked for in words"
    )
    assert any("1 of 4" in one and "128" in one for one in said)


def _with_tools(sample: Sample, tools: Sequence[Tool], names: Mapping[str, str]) -> Sample:
    user, due = sample.turns
    assert isinstance(due, CallTurn)
    calls = tuple(one.with_changes(tool=names[one.tool]) for one in due.calls)
    return sample.with_changes(
        candidates=tuple(one.key for one in tools), turns=(user, due.with_changes(calls=calls))
    )


def said(words: str, *acts: str) -> str:
    return orjson.dumps({"say": words, "acts": list(acts)}).decode()


def in_conversation(asked: ServedRequest) -> str:
    if (
        "It's yours" in asked.question
        or '\\"booked\\"' in asked.question
        or "booked" in asked.question.split("user:")[-1]
    ):
        return said("Done.", "inform")
    if "G777" in asked.question:
        return '[{"name": "book_sauna", "arguments": {"guest_id": "G777", "hour": 9}}]'
    if "For Ida Berg" in asked.question:
        return '[{"name": "find_guest", "arguments": {"name": "Ida Bergh"}}]'
    return said("Hello!", "other")


def test_a_conversation_is_predicted_turn_by_turn_after_its_true_history(
    model_server: ModelServer, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "talk")
    release(settings, TALK)
    model_server.behaviour = in_conversation
    evaluate(settings, candidate(model_server, "far"))
    row = board(settings, "far")
    assert one(settings, "select count(*) from predictions") == 4
    assert row["n_call_turns"] == 2
    assert row["ast_strict"] == 0.5, (
        "the second call is right though the first is not: it sees the true history"
    )
    assert 0.5 < row["ast_soft"] < 1
    assert row["ast_strict_chains"] == 0
    assert 0 < row["ast_soft_chains"] < row["ast_soft"]
    assert row["act_accuracy"] == 0.75
    errors = warehouse_of(settings).rows(
        "select turn, error_type from predictions where error_type <> ''"
    )
    assert errors == [{"turn": 3, "error_type": "wrong_value"}]
