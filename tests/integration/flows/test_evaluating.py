"""Evaluating candidates: every answer is kept and counts, none is asked for twice, and trouble
loses nothing.
"""

import asyncio
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.evaluation.evaluating import evaluate_each, evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import (
    Conditions,
    NamedCandidate,
    unfinished_evaluation,
)
from callwright.flows.evaluation.predictions import PromptingStrategy, asked_at
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.settings import Settings
from callwright.generators.transcripts import chat_messages
from callwright.llm.models import read_model
from callwright.llm.wire_format import wire_messages
from callwright.warehouse.errors import BudgetError, ConfigurationError, StoreError, TransientError
from callwright.warehouse.releases import create_release, read_release
from callwright.warehouse.wire_names import wire_names
from tests.support.flows.model_server import (
    FILTERED,
    ILL,
    PRICE,
    PRICED,
    ModelServer,
    Refusal,
    ServedRequest,
)
from tests.support.flows.small_builds import (
    build,
    one,
    row_counts,
    run_here,
    settings_of,
    start,
    stub_settings,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow

SAMPLES = {"perfect": 8, "imperfect": 4, "irrelevant": 4}
ALL = sum(SAMPLES.values())


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with a release v1."""
    settings = settings_of(tmp_path_factory.mktemp("frozen"))
    build(unmeasured_recipe(samples=SAMPLES), settings)
    assert create_release(warehouse_of(settings), "v1").samples == ALL
    return settings.home


@pytest.fixture
def released(frozen: Path, tmp_path: Path) -> Settings:
    """Settings of a copy of it, the test's own."""
    shutil.copytree(frozen, tmp_path / "home")
    return settings_of(tmp_path / "home")


def of_server(server: ModelServer, label: str = "far", **changes: object) -> Candidate:
    settings = stub_settings(server, **{"concurrency": 4} | changes)
    return Candidate(label=label, model=read_model(settings.pop("name"), settings))


def embedded(label: str = "near", **error_rate: float) -> Candidate:
    return Candidate(label=label, model=read_model("template/v1", {"error_rate": error_rate}))


def evaluate(settings: Settings, *candidates: Candidate, **conditions) -> None:
    asyncio.run(
        evaluate_release("v1", candidates, settings, SilentProgress(), Conditions(**conditions))
    )


def predictions(settings: Settings) -> int:
    count = one(settings, "select count(*) from predictions")
    assert isinstance(count, int)
    return count


def test_a_candidate_that_understands_leads_and_nothing_is_asked_twice(released: Settings) -> None:
    careless = embedded("careless", wrong_tool=0.2, wrong_argument=0.3, missing_argument=0.2)
    evaluate(released, embedded(), careless)
    board = leaderboard("v1", released)
    assert [(row["candidate"], row["n_predictions"]) for row in board] == [
        ("near", ALL),
        ("careless", ALL),
    ]
    assert board[0]["func_acc"] == board[0]["args_acc"] == board[0]["irrelevant"] == 1
    assert board[1]["args_acc"] < 1
    before = row_counts(released)
    evaluate(released, embedded(), careless)
    assert row_counts(released) == before


def test_error_types_add_up_to_what_went_wrong(released: Settings) -> None:
    rates = dict.fromkeys(
        ("wrong_tool", "missing_argument", "extra_argument", "wrong_argument", "malformed_json"),
        0.15,
    )
    evaluate(released, embedded("careless", **rates, refusal=0.15))
    named = one(
        released,
        "select coalesce(sum(n_predictions), 0)::integer from error_types where candidate ="
        " 'careless'",
    )
    right = one(released, "select count(*) from predictions where error_type = ''")
    assert named > 0
    assert named + right == predictions(released) == ALL


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (FILTERED, "content filter"),
        slow(Refusal(400, "Invalid request"), "refuses a request"),
        ("", ""),
    ],
    ids=["filtered", "bad request", "empty"],
)
def test_a_reply_that_can_not_be_used_counts_against_the_candidate_and_stops_nobody(
    model_server: ModelServer, released: Settings, answer: Refusal | str, said: str
) -> None:
    model_server.behaviour = lambda asked: answer if asked.number % 2 else None
    evaluate(released, of_server(model_server))
    assert predictions(released) == ALL
    rows = warehouse_of(released).rows("select problem from predictions where calls is null")
    assert all(said in row["problem"] for row in rows)
    if said:
        assert len(rows) == ALL // 2
        assert (
            one(released, "select count(*) from predictions where error_type = 'unparseable'")
            == ALL // 2
        )
    [row] = leaderboard("v1", released)
    assert row["n_predictions"] == ALL
    requests = model_server.requests
    evaluate(released, of_server(model_server))
    assert model_server.requests == requests


def test_what_was_answered_is_kept_where_the_provider_fails_another(
    model_server: ModelServer, released: Settings
) -> None:
    first: list[str] = []

    def behave(asked: ServedRequest) -> Refusal | None:
        first.extend([asked.question] if not first else [])
        return ILL if asked.question == first[0] else None

    model_server.behaviour = behave
    with pytest.raises(TransientError, match="can't answer now"):
        evaluate(released, of_server(model_server))
    assert predictions(released) == ALL - 1, "one ill question does not stop the others"
    assert leaderboard("v1", released) == [], "no score is given for part of a release"
    model_server.behaviour = lambda asked: None
    model_server.forget()
    evaluate(released, of_server(model_server))
    assert (predictions(released), model_server.requests) == (ALL, 1)
    assert leaderboard("v1", released)[0]["n_predictions"] == ALL


def test_what_was_cut_off_is_taken_up_as_it_was_asked_for(
    model_server: ModelServer, released: Settings
) -> None:
    model_server.behaviour = lambda asked: ILL if asked.number >= 5 else None
    candidate = of_server(model_server, attempts=1, concurrency=2, temperature=0.5)
    with pytest.raises(ConfigurationError, match="has not been evaluated yet"):
        unfinished_evaluation(warehouse_of(released), "v1")
    with pytest.raises(TransientError):
        evaluate(released, candidate, runs=2, tools_shown="always")
    kept, behaving = predictions(released), unfinished_evaluation(warehouse_of(released), "v1")
    assert (behaving.candidates, behaving.conditions) == (
        [candidate],
        Conditions(runs=2, tools_shown="always"),
    )
    older = (  # before there were users
        "update evaluations set conditions = json_merge_patch(conditions, '{\"user\": null}')"
    )
    warehouse_of(released).execute(older)
    assert unfinished_evaluation(warehouse_of(released), "v1") == behaving
    model_server.behaviour = lambda asked: None
    model_server.forget()
    resumed = run_here("evaluate", "v1", "--resume", home=released.home)
    assert resumed.returncode == 0, resumed.stderr
    assert (predictions(released), model_server.requests) == (2 * ALL, 2 * ALL - kept)
    assert [row["candidate"] for row in warehouse_of(released).rows("from candidates")] == ["far"]
    again = run_here("evaluate", "v1", "--resume", home=released.home)
    assert (again.returncode, "nothing to resume" in again.stderr) == (2, True)
    named = run_here("evaluate", "v1", "--resume", "--model", "template/v1", home=released.home)
    assert (named.returncode, "Leave out --model" in named.stderr) == (2, True)


def test_a_killed_evaluation_is_resumed_to_the_same_scores_and_nothing_is_paid_for_twice(
    model_server: ModelServer, released: Settings, frozen: Path, tmp_path: Path
) -> None:
    """Only what was on its way to the server when the process died is asked for again."""
    model_server.is_steady, model_server.delay = True, 0.5
    far = {"label": "far", "model": stub_settings(model_server, concurrency=2)}
    asked = ("evaluate", "v1", "--recipe", str(write_unmeasured_recipe(tmp_path, candidates=[far])))
    process = start(*asked, home=released.home)
    wait_until(lambda: model_server.answered.total() >= ALL // 2)
    process.kill()
    process.communicate()
    assert predictions(released) < ALL
    model_server.delay = 0
    assert run_here("evaluate", "v1", "--resume", home=released.home).returncode == 0
    again = [times - 1 for times in model_server.asked.values() if times > 1]
    assert (predictions(released), len(model_server.asked)) == (ALL, ALL)
    assert sum(again) <= 2, "two were asked for at once"
    shutil.copytree(frozen, tmp_path / "whole")
    assert run_here(*asked, home=tmp_path / "whole").returncode == 0
    scores = "select * from scores order by all"
    assert warehouse_of(released).rows(scores) == warehouse_of(
        settings_of(tmp_path / "whole")
    ).rows(scores)


def wait_until(is_so: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_budget_is_kept_and_the_next_one_goes_on(
    model_server: ModelServer, released: Settings
) -> None:
    candidate = of_server(model_server, name=PRICED, max_tokens=30)
    with pytest.raises(BudgetError):
        evaluate(released, candidate, budget=PRICE * 8)
    spent = one(released, "select sum(cost) from llm_calls where stage = 'predict'")
    assert 0 < spent <= PRICE * 8
    assert spent == pytest.approx(model_server.requests * PRICE)
    evaluate(released, candidate, budget=PRICE * 40)
    assert predictions(released) == model_server.requests == ALL


def gold_as_text(settings: Settings) -> Callable[[ServedRequest], str]:
    """A model that knows the gold, and writes its native calls as text by the names that it was
    given.
    """
    content = read_release(warehouse_of(settings), "v1")

    def shown(messages: list[dict[str, Any]]) -> str:
        return json.dumps([one["content"] for one in messages])

    due = {
        shown(wire_messages([*chat_messages(snapshot.prefix)])): (
            snapshot.calls,
            [content.tools[key] for key in sample.candidates],
        )
        for sample in content.samples
        for snapshot in asked_at(sample)
    }

    def answer(asked: ServedRequest) -> str:
        (_, *messages), _ = json.loads(asked.question)
        calls, tools = due[shown(messages)]
        names = wire_names(tools)
        written = [{"name": names.tool(call.tool), "arguments": call.arguments} for call in calls]
        return (
            "\n".join(f"<tool_call>\n{json.dumps(one)}\n</tool_call>" for one in written)
            or "No tool does that."
        )

    return answer


def test_native_calls_that_come_as_text_are_calls_of_the_tools_that_they_were_given(
    model_server: ModelServer, released: Settings
) -> None:
    model_server.behaviour = gold_as_text(released)
    evaluate(
        released,
        of_server(model_server),
        prompting=PromptingStrategy("native"),
        tools_shown="always",
    )
    [row] = leaderboard("v1", released)
    assert (row["func_acc"], row["args_acc"]) == (1, 1)
    assert any("_" in name for names in model_server.tools for name in names), (
        "their own names have dots"
    )


@pytest.mark.parametrize(
    ("error", "asked"), [(StoreError("full"), 3), (KeyError("ours"), 3), (BudgetError("spent"), 1)]
)
async def test_what_ends_one_candidate_ends_no_other_but_for_the_budget_of_all(
    error: Exception, asked: int
) -> None:
    seen: list[str] = []

    async def ask(candidate: NamedCandidate) -> None:
        seen.append(candidate.name)
        if len(seen) == 1:
            raise error

    model = read_model("template/v1")
    candidates = [NamedCandidate(name, name, model, "") for name in ("a", "b", "c")]
    with pytest.raises(type(error), match=str(error.args[0])):
        await evaluate_each(candidates, ask, "v1", SilentProgress())
    assert len(seen) == asked
