"""Tasks from recipe to scores: built in a simulated world, proved by their ends, landed, and run
by candidates in that world.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import callwright
from callwright.flows.api.tasks import cheats_in_release
from callwright.flows.environments import open_environments
from callwright.flows.evaluation.evaluating import domain_board, evaluate_release, leaderboard
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.paths import PathRun, run_path
from callwright.flows.evaluation.predictions import PromptingStrategy
from callwright.flows.evaluation.tasks import Task
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, read_recipe
from callwright.flows.settings import Settings
from callwright.generators.environments.episodes import StatefulWorld
from callwright.generators.environments.joined import JoinedWorld
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.llm.models import read_model
from callwright.warehouse.cards import card_facts, render_card
from callwright.warehouse.records import Call, MultiStepRun, Sample
from callwright.warehouse.releases import freeze
from tests.support.flows.inn_world import TOOLS, Err, Guide, Inns, inn_sample, release_paths
from tests.support.flows.model_server import ModelServer
from tests.support.flows.small_builds import TOP, build, settings_of, stub_settings, warehouse_of
from tests.support.generators.multi_step.workshop import context_of, open_workshop, painting

FEW = 4


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Settings]:
    """The recipe of tasks, built small."""
    settings = settings_of(tmp_path_factory.mktemp("tasks"))
    recipe = read_recipe(TOP / "recipes" / "tasks.yaml").model_copy(
        update={"samples": {"task": FEW}}
    )
    build(recipe, settings)
    landed = warehouse_of(settings).rows(
        "select count(*) as landed from outcomes where stage = 'land' and outcome = 'passed'"
    )
    assert landed == [{"landed": FEW}]
    return recipe, settings


def samples_of(settings: Settings) -> list[Sample]:
    rows = warehouse_of(settings).rows("select body from samples order by key")
    return [Sample.model_validate_json(row["body"]) for row in rows]


def test_what_is_built_says_how_its_world_has_to_end(built: tuple[Recipe, Settings]) -> None:
    _, settings = built
    made = samples_of(settings)
    for sample in made:
        assert sample.kind == "task"
        assert sample.changes
        assert sample.facts.environment == "workshop"
    assert len({sample.facts.simulation for sample in made}) == len(made)
    verdicts = warehouse_of(settings).rows("select distinct check_name, decision from verdicts")
    assert {"check_name": "end_state", "decision": "proved"} in verdicts
    assert {"check_name": "path", "decision": "proved"} in verdicts


def test_the_template_does_every_task_in_each_of_several_runs(
    built: tuple[Recipe, Settings],
) -> None:
    recipe, settings = built
    freeze(warehouse_of(settings), "tasks", [one.key for one in samples_of(settings)])
    candidates = [Candidate(label="template", model=read_model("template/v1"))]
    with open_environments(recipe, settings.ledger.parent) as environments:
        conditions = Conditions(environments=environments, runs=2)
        asyncio.run(evaluate_release("tasks", candidates, settings, SilentProgress(), conditions))
    board = [
        (row["success_rate"], row["end_state"], row["needless_changes"], row["told"])
        for row in leaderboard("tasks", settings)
    ]
    assert board == [(1, 1, 0, 1)] * 2


def test_a_card_of_tasks_says_what_cheats_earn(built: tuple[Recipe, Settings]) -> None:
    _, settings = built
    freeze(warehouse_of(settings), "cheated", [one.key for one in samples_of(settings)])
    home = settings.ledger.parent
    assert cheats_in_release(["perfect"], "cheated", progress=SilentProgress(), home=home) == []
    figures = cheats_in_release(["task"], "cheated", progress=SilentProgress(), home=home)
    assert {one["mean_reward"] for one in figures} == {0.0}
    card = render_card(card_facts(warehouse_of(settings), "cheated", figures))
    assert "| writes from memory | 4 | 0.00 | 0.00 |" in card
    assert "What cheats earn" not in render_card(card_facts(warehouse_of(settings), "cheated"))
    assert {row["domain"]: row["end_state"] for row in domain_board("tasks", settings)} == {
        "workshop": 1,
        "all": 1,
    }
    passes = "select k, pass_all from pass_k where kind = 'task' order by k"
    assert warehouse_of(settings).rows(passes) == [{"k": 1, "pass_all": 1}, {"k": 2, "pass_all": 1}]


def outcomes(
    built: tuple[Recipe, Settings], err: Err | None = None, **options: int
) -> Mapping[str, MultiStepRun]:
    """How every task ends for a candidate that makes the gold calls, but for what it errs in."""
    recipe, settings = built

    async def drive(environment: Environment, sample: Sample) -> MultiStepRun:
        context = context_of(environment, Guide([sample], err, **options))
        found = await run_path(sample, context, run=PathRun("tasks", "guide"))
        return next(one for one in found if isinstance(one, MultiStepRun))

    with open_environments(recipe, settings.ledger.parent) as environments:
        world = environments["workshop"]
        return {one.key: asyncio.run(drive(world, one)) for one in samples_of(settings)}


def test_the_gold_does_every_task_and_who_is_idle_none(built: tuple[Recipe, Settings]) -> None:
    assert all(one.success and not one.needless_changes for one in outcomes(built).values())
    assert not any(
        one.success or one.needless_changes for one in outcomes(built, stop_after=0).values()
    )


def test_one_wrong_write_spoils_every_task(built: tuple[Recipe, Settings]) -> None:
    def err(step: int, calls: list[dict[str, object]], tries: int) -> list[dict[str, object]]:
        return [
            call | {"name": "delete_repair"} if call["name"] == "cancel_repair" else _other(call)
            for call in calls
        ]

    def _other(call: dict[str, object]) -> dict[str, object]:
        match call:
            case {"name": "delete_repair"}:
                return call | {"name": "cancel_repair"}
            case {"name": "create_repair" | "update_bicycle", "arguments": dict(given)}:
                changed = {
                    name: _another(value) if name in ("part", "colour") else value
                    for name, value in given.items()
                }
                return call | {"arguments": changed}
        return call

    def _another(value: object) -> object:
        return {"brakes": "chain", "red": "blue"}.get(
            str(value), "brakes" if str(value) in PARTS else "red"
        )

    assert not any(one.success for one in outcomes(built, err).values())


PARTS = ("brakes", "chain", "lights", "saddle", "tyres")


def test_without_its_world_a_task_is_a_failure_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(tmp_path)
    warehouse, workshop, inn = warehouse_of(settings), open_workshop(tmp_path), inn_sample("Rome")
    release_paths(warehouse, [painting(workshop), inn], (*workshop.tools, *TOOLS), name="mixed")
    candidates = [Candidate(label="template", model=read_model("template/v1"))]
    progress, said = SilentProgress(), list[str]()
    monkeypatch.setattr(progress, "say", said.append)
    asyncio.run(
        evaluate_release(
            "mixed", candidates, settings, progress, Conditions(environments={"inns": Inns()})
        )
    )
    failed = warehouse.rows("select subject, error, reason from failures")
    assert [(row["subject"], row["error"]) for row in failed] == [
        (painting(workshop).key, "ConfigurationError")
    ]
    assert "judged by how the world 'workshop' ends" in failed[0]["reason"]
    assert [
        (row["n_multi_step_runs"], row["end_state"]) for row in leaderboard("mixed", settings)
    ] == [(1, None)]
    assert any("1 of 2 multi-step samples can't be judged" in line for line in said)


def test_candidates_talk_with_a_user_who_holds_values_back(built: tuple[Recipe, Settings]) -> None:
    recipe, settings = built
    freeze(warehouse_of(settings), "talked", [one.key for one in samples_of(settings)])
    template = read_model("template/v1")
    with open_environments(recipe, settings.ledger.parent) as environments:
        conditions = Conditions(
            environments=environments,
            user=template,
            prompting=PromptingStrategy(user=template.name),
        )
        candidates = [Candidate(label="template", model=template)]
        asyncio.run(evaluate_release("talked", candidates, settings, SilentProgress(), conditions))
    [row] = leaderboard("talked", settings)
    assert (row["strategy"], row["success_rate"], row["end_state"]) == (
        "direct/live(template/v1)",
        1,
        1,
    )
    domains = domain_board("talked", settings)
    assert all(
        row["mean_user_turns"] > 0 and row["user_refused_share"] == row["user_error_share"] == 0
        for row in domains
    )
    openings = warehouse_of(settings).rows("select opening from multi_step_runs")
    requests = {one.request for one in samples_of(settings)}
    assert any(row["opening"] not in requests for row in openings)


def test_a_user_whose_model_says_something_else_is_refused_and_right_all_the_same(
    built: tuple[Recipe, Settings], model_server: ModelServer
) -> None:
    recipe, settings = built
    freeze(warehouse_of(settings), "misled", [one.key for one in samples_of(settings)])
    wrong = {
        "UserSentence": {"sentence": "Make it 77, and all of it red."},
        "HeardQuestion": {"wants": ["aside"]},
        "OpeningWords": {"opening": "Make it 77, and all of it red."},
    }
    model_server.behaviour = lambda asked: json.dumps(wrong[asked.title])
    given = stub_settings(model_server)
    user = read_model(given.pop("name"), given)
    candidates = [Candidate(label="template", model=read_model("template/v1"))]
    with open_environments(recipe, settings.ledger.parent) as environments:
        prompting = PromptingStrategy(user=user.name)
        conditions = Conditions(environments=environments, user=user, prompting=prompting)
        asyncio.run(evaluate_release("misled", candidates, settings, SilentProgress(), conditions))
    whole = domain_board("misled", settings)[-1]
    assert (whole["success_rate"], whole["user_refused_share"], whole["user_error_share"]) == (
        1,
        1,
        None,
    )
    asked = "select count(*) as calls from llm_calls where stage = 'simulate_user' and model = ?"
    assert warehouse_of(settings).rows(asked, [user.name])[0]["calls"] > 0


def test_a_task_of_two_worlds_is_done_in_both_and_goes_out(tmp_path: Path) -> None:
    settings, sources = settings_of(tmp_path), []
    for name in ("workshop", "depot"):
        path = TOP / "recipes" / "documents" / f"{name}.yaml"
        sources.append(
            SimulatedSettings.model_validate(
                {"environment": "simulated", "name": name, "path": path}
            )
        )
    asked = {"name": "both", "tools": tuple(sources), "samples": {"task_cross": 3}}
    build(read_recipe(TOP / "recipes" / "tasks.yaml").model_copy(update=asked), settings)
    made = samples_of(settings)
    assert {(one.kind, one.facts.environment) for one in made} == {("task_cross", "workshop+depot")}
    proved = (
        "select subject from verdicts where check_name = 'end_state' and decision = 'proved' order"
        " by subject"
    )
    keys = [row["subject"] for row in warehouse_of(settings).rows(proved)]
    assert len(keys) >= len(made) - 1
    freeze(warehouse_of(settings), "both", keys)
    callwright.load_release("both", home=tmp_path).export(
        "trl", tmp_path / "out", with_template=True
    )
    for tasks in (
        callwright.load_tasks("both", home=tmp_path),
        callwright.load_tasks(tmp_path / "out"),
    ):
        for task in tasks:
            assert {one.kind.split()[0] for one in task.sample.changes} == {"workshop", "depot"}
            assert isinstance(task.world, JoinedWorld)
            halves = [[*task.gold], [], *(_without(task, world) for world in task.world.worlds)]
            assert [_reward(task, calls) for calls in halves] == [1, 0, 0, 0]
            wrong = [
                [one for one in defect.turns if isinstance(one, Call)] for defect in task.defects()
            ]
            assert not any(_reward(task, calls) for calls in wrong)
    module = (tmp_path / "out" / "environment" / "environment.py").read_text(encoding="utf-8")
    assert "class WorldWorkshopDepot(World):" in module
    assert module.count("def update_parcel(") == 2, "of the depot alone, and of both"


def _without(task: Task, world: StatefulWorld) -> list[Call]:
    return [call for call in task.gold if call.tool not in {tool.name for tool in world.tools}]


def _reward(task: Task, calls: Sequence[Call]) -> float:
    with task.begin() as episode:
        episode.play(calls)
        return episode.reward()
