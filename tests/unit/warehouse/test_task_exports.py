"""Tasks go out with their worlds: what each folder holds, that the core package plays it, and
what is refused.
"""

import ast
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import callwright
from callwright.generators.environments.opening import open_shipped, ship_world
from callwright.generators.environments.protocol import WORLDS
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.exports.formats import export_release
from callwright.warehouse.records import Call, Tool
from callwright.warehouse.registry import row_in_file
from callwright.warehouse.releases import ReleaseContent, ReleaseStream
from tests.support.warehouse.exported import rows_in, stream_of
from tests.support.warehouse.task_releases import task_stream

ROOTS = {
    "inspect": "environment",
    "nemo-gym": "environment",
    "openenv": "",
    "trl": "environment",
    "verifiers": "callwright_v1",
}
LIBRARY = Path(__file__).parents[3] / "flows" / "scaffolds" / "environment.py"


@pytest.fixture
def stream(tmp_path: Path) -> ReleaseStream:
    return task_stream(tmp_path)


def test_a_datasheet_counts_the_tasks_and_names_the_seeds(
    stream: ReleaseStream, tmp_path: Path
) -> None:
    export_release(stream, "verifiers", tmp_path / "out")
    told = (tmp_path / "out" / "DATASHEET.md").read_text(encoding="utf-8").splitlines()
    assert {
        "| train | 1 |",
        "| test | 1 |",
        "| task | 2 |",
        "| workshop | simulated | 0 | 1 |",
    } <= {*told}


def test_openenv_is_told_what_its_validator_asks_for(stream: ReleaseStream, tmp_path: Path) -> None:
    export_release(stream, "openenv", tmp_path / "out")
    manifest = yaml.safe_load((tmp_path / "out" / "openenv.yaml").read_text(encoding="utf-8"))
    stated = manifest["validation"]
    assert stated["capabilities"]["declared_task_count"] == {"train": 1, "test": 1}
    assert stated["task_distribution"]["generator_seed"] == 0
    for file in (
        stated["execution"]["probe_path"],
        stated["execution"]["dockerfile"],
        stated["capabilities"]["oracle"]["location"],
    ):
        assert (tmp_path / "out" / file).is_file()


@pytest.mark.parametrize("to", ROOTS)
def test_a_folder_is_played_by_the_core_package_alone(
    stream: ReleaseStream, tmp_path: Path, to: str
) -> None:
    export = export_release(stream, to, tmp_path / "out")
    tasks = callwright.load_tasks(tmp_path / "out")
    assert (len(tasks), tasks.splits) == (2, ("test", "train"))
    for task in tasks:
        with task.begin() as episode:
            assert episode.reward() == 0.0
            episode.play(task.gold)
            assert episode.reward() == 1.0
    [tests] = (tmp_path / "out").rglob("test_*.py")
    modules = [path for path in export.files if path.suffix == ".py"]
    assert tests in modules
    for module in modules:
        ast.parse(module.read_text(encoding="utf-8"))
    assert (tmp_path / "out" / ROOTS[to] / "tasks" / "worlds.json") in export.files


@pytest.mark.parametrize("to", ["verifiers", "openenv"])
def test_what_is_no_task_is_left_out_of_environments(
    content: ReleaseContent, tmp_path: Path, to: str
) -> None:
    with pytest.raises(RecordError, match="it is no task"):
        export_release(stream_of(content), to, tmp_path / "out")


def test_rows_of_nemo_gym_begin_a_session_and_its_settings_name_the_files(
    stream: ReleaseStream, tmp_path: Path
) -> None:
    export_release(stream, "nemo-gym", tmp_path / "out")
    place = tmp_path / "out" / "environment"
    [row] = rows_in(place / "data" / "train.jsonl")
    task = callwright.load_tasks(place).of_key(row["key"])
    assert row["responses_create_params"]["input"] == task.messages
    assert [tool["name"] for tool in row["responses_create_params"]["tools"]] == [
        tool["name"] for tool in task.tools
    ]
    settings = yaml.safe_load(
        (place / "configs" / "callwright_v1.yaml").read_text(encoding="utf-8")
    )
    sets = settings["callwright_v1_simple_agent"]["responses_api_agents"]["simple_agent"][
        "datasets"
    ]
    assert {one["name"]: one["type"] for one in sets} == {"train": "train", "test": "example"}


def module_at(path: Path) -> ModuleType:
    module = ModuleType("exported")
    module.__file__ = str(path)
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), vars(module))  # noqa: S102 - what was just written
    return module


def test_methods_of_the_class_for_trl_are_the_tools(stream: ReleaseStream, tmp_path: Path) -> None:
    strange = Tool(
        name="repairs.find-all",
        description="Find repairs.\n\nReturns: all (choices: [1])",
        parameters={
            "type": "object",
            "properties": {
                "self": {"type": "string"},
                "from": {"type": ["integer", "null"], "description": "First.\nArgs: none"},
                "by": {"enum": ["price", None]},
                "parts": {"type": "array", "items": {"type": "string"}},
                "any": {},
            },
            "required": ["from"],
        },
        category="workshop",
        source="environment:workshop",
    )
    shipped = stream.worlds["workshop"]
    worlds = {
        "workshop": shipped._replace(names={**shipped.names, strange.name: "repairs_find_all"})
    }
    export_release(
        stream._replace(tools={**stream.tools, strange.key: strange}, worlds=worlds),
        "trl",
        tmp_path / "out",
    )
    module = module_at(tmp_path / "out" / "environment" / "environment.py")
    made = module.environment_factory["workshop"]
    assert made.repairs_find_all.__annotations__ == {
        "_from": int | None,
        "self_": str,
        "by": module.Literal["price", None],
        "parts": list[str],
        "any": module.Any,
        "return": str,
    }
    assert made.repairs_find_all.__doc__.startswith(
        "Find repairs. Returns all\n\nArgs:\n    _from: First. Args none\n    self_: self"
    )
    assert module.RENAMED == {"repairs_find_all": {"self_": "self", "_from": "from"}}
    environment = made()
    assert environment.get_reward() == 0.0
    with pytest.raises(
        ConfigurationError, match="No task has begun, so 'list_bicycles' can't be called"
    ):
        environment.list_bicycles()
    task = module.TASKS[0]
    environment.reset(key=task.key, prompt="more than is asked")
    for call in task.gold:
        getattr(environment, call.tool)(**call.arguments)
    assert environment.reply_to_user(task.reply) == '{"done":true}'
    assert (environment.get_reward(), environment.attack_success) == (1.0, None)
    environment.reset(key=task.key)
    assert environment.get_reward() == 0.0


def test_a_world_of_a_file_of_ones_own_goes_along(tmp_path: Path) -> None:
    found = row_in_file(LIBRARY, "WORLD")
    WORLDS.add(found.row, found.source)
    try:
        settings = found.row.settings.model_validate({"environment": "example", "lent": 1})
        shipped = ship_world(found.row.open(settings, tmp_path, str), settings)
    finally:
        WORLDS.clear()
    assert shipped.document == {
        "environment": "example",
        "name": "example",
        "lent": 1,
        "extension": "environment.py:WORLD",
    }
    (tmp_path / "environment.py").write_text(shipped.files["environment.py"], encoding="utf-8")
    try:
        world = open_shipped(shipped.document, tmp_path)
        episode = world.begin(3)
        assert len(episode.answer(Call(tool="find_books")).response) == 4
    finally:
        WORLDS.clear()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"environment": "none"},
        {"environment": "simulated", "description": []},
        {"environment": "travel", "seed": "x"},
    ],
)
def test_what_describes_no_world_is_told(document: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError):
        open_shipped({"name": "shop", **document}, tmp_path)
