"""The Python API on a small work folder: builds, samples, checks, releases and evaluations, as
scripts and notebooks have them.
"""

import asyncio
import doctest
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import callwright
from callwright.flows.api import building
from callwright.flows.api.releases import WorkFolder, load_from
from callwright.flows.api.surroundings import run_aside, settings_of
from callwright.flows.data_checks import CheckedRecordLine
from callwright.warehouse.errors import ConfigurationError
from tests.support.flows.small_builds import TOP, environment, run_here

NAMES_AT_MOST = 35


def get_rain(city: str, day: str = "today") -> str:
    """Tell whether it rains in a city.

    Args:
        city: The name of the city.
        day: The day, such as today.
    """
    return f"{city} {day}"


RECIPE = callwright.make_recipe(
    "mine",
    tools=[get_rain, {"seed": ["Weather"]}],
    samples={"perfect": 8, "imperfect": 4, "irrelevant": 2},
    seed=7,
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder with one build and the release v1."""
    folder = tmp_path_factory.mktemp("home")
    report = callwright.build(RECIPE, home=folder)
    assert report.landed > 8
    callwright.create_release("v1", splits={"train": 0.5, "test": 0.5}, home=folder)
    return folder


def test_the_front_page_is_small_lazy_and_whole() -> None:
    code = (
        "import sys, time; before = set(sys.modules); import callwright; print(len(set(sys.modules)"
        " - before)); print(sorted(set(sys.modules) & {'pydantic', 'orjson', 'duckdb', 'typer'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported, heavy = done.stdout.splitlines()
    assert (int(imported) < 10, heavy) == (True, "[]")
    assert len(callwright.__all__) <= NAMES_AT_MOST
    assert callwright.__all__ == sorted(callwright.__all__)
    assert set(callwright.__all__) <= set(dir(callwright))
    for name in callwright.__all__:
        assert getattr(callwright, name).__doc__.strip(), name
    with pytest.raises(AttributeError, match="has no attribute 'bild'; it has AnsweredItem"):
        _ = callwright.bild  # type: ignore[attr-defined]


async def test_builds_work_where_a_loop_is_running(tmp_path: Path) -> None:
    steps: list[callwright.ProgressStep] = []
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        for ticks in count():  # noqa: B007 - seen from outside
            await asyncio.sleep(0.01)

    ticking = asyncio.create_task(tick())
    report = await callwright.build_async(RECIPE, home=tmp_path, limit=2, progress=steps.append)
    ticking.cancel()
    assert (report.planned, report.is_trial) == (6, True)
    assert callwright.ProgressStep("single_turn", 6, 6) in steps
    assert steps[-1].sentence.startswith("measuring")
    assert ticks > 2, "the loop went on meanwhile"
    again = callwright.build(RECIPE, home=tmp_path, limit=2)  # as in a cell of a notebook
    assert (again.build, again.landed) == (report.build, report.landed)


async def test_a_build_that_is_cancelled_ends(tmp_path: Path) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def forever() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            loop.call_soon_threadsafe(ended.set)

    task = asyncio.create_task(run_aside(forever()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(ended.wait(), 5)


def test_tools_made_in_python_survive_into_worker_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import callwright\ndef ring(person: str) -> None:\n    '''Ring somebody.'''\nrecipe ="
        " callwright.make_recipe('two', tools=[ring, {'seed': ['Weather']}], samples={'perfect':"
        " 12}, shard_size=4)\nif __name__ == '__main__':\n    print(callwright.build(recipe,"
        " workers=2).planned)\n"
    )
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.stdout, done.returncode) == ("12\n", 0), done.stderr


UNGUARDED = (
    "import callwright\nrecipe = callwright.make_recipe('plain', tools=[{'seed': ['Weather']}],"
    " samples={'perfect': 3})\nprint(callwright.build(recipe, workers=WORKERS).planned)\n"
)


def test_a_script_without_a_guard_is_told_of_it_with_more_workers_than_one(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED.replace("WORKERS", "2"))
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        'Put the call that starts the build under `if __name__ == "__main__":`'
        in done.stderr.splitlines()[-1]
    )
    assert "memory" not in done.stderr


def test_samples_come_with_their_tools_and_evidence(home: Path) -> None:
    kept = list(callwright.samples("kind = 'perfect'", home=home))
    assert kept
    for one in kept:
        named = {evidence.argument for evidence in one.evidence if evidence.kind == "span"}
        assert named <= {*one.calls[0].arguments}
        for evidence in one.evidence:
            if evidence.turn is not None:
                assert evidence.quote in one.request
        assert one.messages == [{"role": "user", "content": one.request}]
        assert len(one.openai_tools) == len(one.sample.candidates)
    with pytest.raises(ConfigurationError, match="colour"):
        list(callwright.samples("colour = 1", home=home))


def test_records_and_requests_are_checked_as_by_the_command(home: Path, tmp_path: Path) -> None:
    kept = [*callwright.samples(home=home)][:3]
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(one.record) + "\n" for one in kept) + "{}\n")
    found = callwright.check_records([one.record for one in kept] + [{}], home=home)
    assert [one.key for one in found] == [*(one.key for one in kept), ""]
    assert found == callwright.check_records(path, home=home)
    printed = run_here("check", "records", str(path), "--json", home=home)
    assert json.loads(printed.stdout) == json.loads(json.dumps([_plain(one) for one in found]))
    assert (
        callwright.check_requests([{"id": "x"}, {"id": {1}}])[1]
        .reasons[0]
        .startswith("Line 2 is no request: it is no JSON")
    )


def _plain(found: CheckedRecordLine) -> dict[str, Any]:
    return found._asdict() | {"verdicts": [verdict._asdict() for verdict in found.verdicts]}


def test_the_examples_of_the_checks_are_true() -> None:
    assert doctest.testmod(building).failed == 0


def test_a_release_is_gone_through_turned_into_tables_and_exported(
    home: Path, tmp_path: Path
) -> None:
    release = callwright.load_release("v1", home=home)
    assert len(release) == len(list(release)) == sum(release.count_kinds().values())
    assert {one.split for one in release} == {"train", "test"} == set(release.splits)
    frame = release.to_pandas()
    assert list(frame["key"]) == [one.key for one in release]
    assert set(frame["grade"]) <= {"proved", "judged", "vouched"}
    assert release.export("records", tmp_path / "records").rows == len(release)
    loaded = callwright.load_release(tmp_path / "records")
    assert [*loaded.rows()] == [
        row | {"grade": ""} for row in sorted(release.rows(), key=_by_split)
    ]
    assert (len(loaded), loaded.splits, loaded.count_kinds()) == (
        len(release),
        ("test", "train"),
        release.count_kinds(),
    )
    assert (
        release.export("parquet", tmp_path / "parquet", kinds=["perfect"]).rows
        == release.count_kinds()["perfect"]
    )


def _by_split(row: dict[str, Any]) -> tuple[str, str]:
    return row["split"], row["key"]


def test_a_work_folder_is_copied_once_for_all_who_read_it(home: Path) -> None:
    folder = WorkFolder(settings_of(home))
    with folder.opened() as first:
        release = load_from(folder, "v1")
        one, other = iter(release), iter(release)
        assert next(one) == next(other)
        assert len(list(one)) == len(list(other)) == len(release) - 1
        with folder.opened() as second:
            assert second is first
    assert [*release] == [*callwright.load_release("v1", home=home)]
    with pytest.raises(ConfigurationError, match="was loaded from the warehouse"):
        _ = release.created


def test_a_missing_package_is_told_with_the_command_that_brings_it(home: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"needs the package datasets, .* pip install datasets"
    ):
        callwright.load_release("v1", home=home).to_dataset()


@pytest.fixture(scope="module")
def due(home: Path) -> dict[str, list[Any]]:
    """The calls that are due, by the request of which they are."""
    release = callwright.load_release("v1", home=home)
    return {one.request: [(call.tool, call.arguments) for call in one.calls] for one in release}


def test_a_function_that_answers_rightly_has_all_points(
    home: Path, due: dict[str, list[Any]]
) -> None:
    seen: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = []

    def right(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> object:
        seen.append((messages, tools))
        calls = due[messages[-1]["content"]]
        return [
            (name.replace(".", "_"), given) for name, given in calls
        ] or "Sorry, none of my tools can do this."

    found = callwright.evaluate("v1", right, home=home)
    assert (found.candidate, found.strategy, found.failures) == ("right", "messages", [])
    assert {found.figures[name] for name in ("func_acc", "args_acc", "irrelevant")} == {1.0}
    assert len(found.samples) == len(seen) == len(due)
    messages, tools = seen[0]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert {tool["type"] for tool in tools} == {"function"}
    printed = run_here(
        "query", "select distinct candidate from leaderboard where strategy = 'messages'", home=home
    )
    assert "right" in printed.stdout, "it stands on the leaderboard as any other"


BAD = {
    "raises": (KeyError("x"), "python/bad raised KeyError: 'x'"),
    "gives a number": (3, "gave 3, which is no list of calls"),
    "gives no call": ([("go",)], "which is no call"),
    "gives what is no JSON": ([("go", {"x": {1}})], "which is no call"),
    "gives broken JSON": ([{"function": {"name": "go", "arguments": "{"}}], "which is no call"),
    "gives too much": ([("go", {})] * 300, "300 calls"),
}


@pytest.mark.parametrize(("given", "words"), BAD.values(), ids=BAD)
def test_what_goes_wrong_in_a_function_is_a_failure_with_its_reason(
    home: Path, given: object, words: str
) -> None:
    async def bad(_messages: object, _tools: object) -> object:
        if isinstance(given, Exception):
            raise given
        return given

    found = callwright.evaluate("v1", bad, home=home)
    assert len(found.failures) == len(found.samples)
    assert all(words in failure.problem for failure in found.failures)
    assert found.figures["func_acc"] == 0.0


def forms() -> Iterator[object]:
    """Ways to give a call."""
    yield ("go", {"n": 1})
    yield ["go", {"n": 1}]
    yield {"name": "go", "arguments": {"n": 1}}
    yield {"id": "1", "type": "function", "function": {"name": "go", "arguments": '{"n": 1}'}}
    yield callwright.Call(tool="go", arguments={"n": 1})


def test_calls_may_have_any_of_the_usual_forms(home: Path) -> None:
    givens = [
        *([form] for form in forms()),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"function": {"name": "go", "arguments": '{"n": 1}'}}],
        },
        {"name": "go", "arguments": {"n": 1}},
        '{"name": "go", "arguments": {"n": 1}}',
        callwright.Call(tool="go", arguments={"n": 1}),
    ]
    asked = count()
    found = callwright.evaluate(
        "v1", lambda _messages, _tools: givens[next(asked) % len(givens)], home=home, name="any"
    )
    assert len(found.samples) >= len(givens)
    assert {json.dumps(item.calls) for item in found.samples} == {
        '[{"tool": "go", "arguments": {"n": 1}}]'
    }


def test_a_function_is_asked_anew_unless_its_version_is_the_same(home: Path) -> None:
    asked = count()

    def counted(_messages: object, _tools: object) -> None:
        next(asked)

    names = [
        callwright.evaluate("v1", counted, home=home, version=version).candidate
        for version in ("1", "1", "", "")
    ]
    assert names == ["counted", "counted", "counted#2", "counted#3"]
    assert next(asked) == 3 * len(callwright.load_release("v1", home=home))
    with pytest.raises(ConfigurationError, match="is complete"):
        callwright.evaluate("v1", home=home, resume=True)


async def test_async_functions_are_called_in_the_loop_that_waits(home: Path) -> None:
    here = asyncio.get_running_loop()
    under_way: list[int] = []
    most = 0

    async def agent(_messages: object, _tools: object) -> None:
        nonlocal most
        assert asyncio.get_running_loop() is here
        under_way.append(1)
        most = max(most, len(under_way))
        await asyncio.sleep(0.01)
        under_way.pop()

    found = await callwright.evaluate_async("v1", agent, home=home, concurrency=4)
    assert (most, {item.problem for item in found.samples}) == (4, {""})


def test_a_model_by_its_name_is_evaluated_as_by_the_command(home: Path) -> None:
    found = callwright.evaluate("v1", "template/v1", home=home)
    printed = json.loads(
        run_here("evaluate", "v1", "--model", "template/v1", "--json", home=home).stdout
    )
    [row] = [row for row in printed if row["candidate"] == "template/v1"]
    assert {name: row[name] for name in ("func_acc", "args_acc")} == {
        name: found.figures[name] for name in ("func_acc", "args_acc")
    }


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        ([], "There is no candidate"),
        ([3], "3 is not a candidate"),
        (["template/v1", "template/v1"], "Two candidates have the same name"),
        (["template/v1", print], "Evaluate them separately"),
        (["nothing"], "there is no model 'nothing'"),
    ],
)
def test_what_is_no_candidate_is_refused(home: Path, candidates: list[Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        callwright.evaluate("v1", candidates, home=home)
    with pytest.raises(ConfigurationError, match="There is no strategy 'messages'"):
        callwright.evaluate("v1", "template/v1", home=home, strategy="messages")


def test_a_process_of_somebody_elses_keeps_its_network_and_threads(home: Path) -> None:
    code = (
        "import callwright, os; list(callwright.samples()); "
        "print([name for name in ('HF_HUB_OFFLINE', 'DO_NOT_TRACK') if name in os.environ])"
    )
    around = {
        name: value
        for name, value in environment(home).items()
        if name not in {"HF_HUB_OFFLINE", "DO_NOT_TRACK"}
    }
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=TOP,
        env=around,
        check=False,
    )
    assert done.stdout == "[]\n", done.stderr
