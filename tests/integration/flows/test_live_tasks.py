"""Live tasks from recipe to release: held with a simulated user, proved, landed, shown as rows
of training and as environments.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from callwright.flows.environments import open_environments
from callwright.flows.evaluation.tasks import Task
from callwright.flows.recipe import Recipe, read_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.generators.environments.episodes import world_of
from callwright.generators.users.user import facts_of
from callwright.warehouse.exports.examples import TrainingExample, examples_of
from callwright.warehouse.exports.tasks import problem_of_task
from callwright.warehouse.records import Sample, UserTurn
from callwright.warehouse.releases import read_tools
from tests.support.flows.small_builds import TOP, accepted_samples, build, settings_of, warehouse_of
from tests.support.warehouse.exported import release_of, stream_of

Built = tuple[Recipe, Settings, BuildReport]
FEW = {"task": 12, "live_task": 4}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The recipe of live tasks, built small."""
    settings = settings_of(tmp_path_factory.mktemp("live"))
    recipe = read_recipe(TOP / "recipes" / "live.yaml").model_copy(update={"samples": FEW})
    return recipe, settings, build(recipe, settings)


def live_of(settings: Settings) -> Sequence[Sample]:
    return [one for one in accepted_samples(settings) if one.kind == "live_task"]


def test_live_tasks_are_held_proved_and_land(built: Built) -> None:
    _, settings, report = built
    samples = live_of(settings)
    assert len(samples) == FEW["live_task"]
    assert all(sum(isinstance(turn, UserTurn) for turn in sample.turns) > 1 for sample in samples)
    verdicts = warehouse_of(settings).rows(
        "select distinct check_name from verdicts join samples on samples.key = subject"
        " where kind = 'live_task' and decision = 'proved'"
    )
    proved = {row["check_name"] for row in verdicts}
    assert {"format", "grounding", "path", "end_state", "user", "replies", "reading"} <= proved
    [row] = report.users
    assert (
        row.language,
        row.conversations,
        row.user_wordings,
        row.user_refused,
        row.user_errors,
    ) == ("en", 4, 8, 0, 0)


def test_what_the_assistant_asked_is_paid_for_once(built: Built, tmp_path: Path) -> None:
    """The same recipe in another work folder with the same ledger asks nothing anew, neither the
    user's model nor the assistant.
    """
    recipe, settings, _ = built
    again = settings_of(tmp_path)
    again.ledger.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(settings.ledger, again.ledger)
    build(recipe, again)
    counts = (
        "select count(*) as calls, count(*) filter (not cached) as paid from llm_calls where stage"
        " = 'live_conversations'"
    )
    [first] = warehouse_of(settings).rows(counts)
    [second] = warehouse_of(again).rows(counts)
    assert (first["calls"], second) == (first["paid"], {"calls": first["calls"], "paid": 0})


def test_each_turn_of_the_assistant_is_taught(built: Built) -> None:
    _, settings, _ = built
    samples = live_of(settings)
    tools = read_tools(
        warehouse_of(settings), sorted({key for sample in samples for key in sample.candidates})
    )
    source = stream_of(release_of(samples, tools))
    for sample in samples:
        taught = [
            one.turn for one in examples_of(sample, source) if isinstance(one, TrainingExample)
        ]
        assert taught == [
            at for at, turn in enumerate(sample.turns) if turn.kind in ("reply", "calls")
        ]


def test_an_environment_begins_with_the_request_and_its_user_answers(built: Built) -> None:
    recipe, settings, _ = built
    sample = live_of(settings)[0]
    tools = read_tools(warehouse_of(settings), sample.candidates)
    with open_environments(recipe, settings.ledger.parent) as environments:
        task = Task(sample, world_of(environments["workshop"]), [*tools.values()])
        assert [one["role"] for one in task.messages] == ["user"]
        told = [turn.text for turn in sample.turns[1:] if turn.kind == "user"]
        said = [one for one in task.solution if isinstance(one, str)]
        assert (task.is_spoken, len(said)) == (True, len(told))
        with task.begin() as episode:
            held = {fact.value for fact in facts_of(sample, [*tools.values()]) if fact.turn}
            answers = [str(episode.say(one)) for one in said]
            assert all(any(str(value) in one.lower() for one in answers) for value in held)
            state = orjson.loads(orjson.dumps(episode.snapshot().dumped()))
        with task.begin() as episode:
            episode.restore(state)
            episode.play(task.gold)
            assert (episode.say(task.reply), episode.done, episode.reward()) == (None, True, 1.0)
    assert problem_of_task(sample) == ""
