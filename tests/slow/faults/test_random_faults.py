"""Builds, reviews, releases, evaluations and publications under faults at random moments end as if
nothing had happened.

Each run is a draw of its own: `CALLWRIGHT_FAULT_SEED=7 CALLWRIGHT_FAULT_RUNS=100` repeats one, or
makes more of them. `CALLWRIGHT_FAULT_DOORS=plain,prefect,studio` says through which doors the
commands go.
"""

import os
import random
import resource
import secrets
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from callwright.annotation.studio.server import serving_process
from callwright.flows.engine.deploying import _places, start_prefect, stop_prefect
from callwright.flows.settings import Settings
from tests.support.flows.live_sites import People
from tests.support.flows.model_server import PRICE, PRICED, ModelServer, serve_model
from tests.support.flows.small_builds import (
    leftovers,
    settings_of,
    start,
    stub_roles,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.killable_studio import KillableStudio

pytestmark = [pytest.mark.enable_socket, pytest.mark.labelstudio, pytest.mark.prefect]
DOORS = os.environ.get("CALLWRIGHT_FAULT_DOORS", "plain,plain,prefect,studio").split(",")
RUNS = int(os.environ.get("CALLWRIGHT_FAULT_RUNS", "20"))
SEED = int(os.environ.get("CALLWRIGHT_FAULT_SEED", "0")) or secrets.randbelow(10**6)
SAMPLES = {"perfect": 8, "imperfect": 4, "irrelevant": 2, "parallel": 2}
MOST_TRIES = 12
CONCURRENCY = 4
HELD = (3.0, 3.0, 3.0, 60.0)  # seconds for which somebody else has the warehouse open
ROOM = 300_000  # bytes that a file may have on a disk that is full
SAME = {
    "samples": "select key, body from samples order by key",
    "accepted": (
        "select subject, recipe, grade, accepted_by from acceptances where withdrawn_at is null"
        " order by all"
    ),
    "verdicts": (
        "select subject, check_name, arg_max((decision, score, reason), made_at) from verdicts"
        " group by all order by all"
    ),
    "outcomes": "select stage, subject, outcome, reason_code, reason from outcomes order by all",
    "reviews": "select subject, decision, reviewer from reviews order by all",
    "asked": (
        "select subject, kind, cause, reason, pushed_at is not null from review_requests order"
        " by all"
    ),
    "funnel": "select * exclude (build) from funnel order by all",
    "release": "select content_hash, samples from releases order by all",
    "predictions": (
        "select candidate, subject, turn, calls, error_type from predictions order by all"
    ),
    "scores": "select * exclude (release) from scores order by all",
}
NOTED = "select sum(cost) as cost from llm_calls where not cached and error = ''"
HOLDING = """
import sys, time, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
time.sleep(float(sys.argv[2]))
"""


Step = tuple[str, ...]  # the words of a command
PEOPLE: Step = ()  # what people do between two commands


class Journey(NamedTuple):
    """A work folder and the commands that are run on it, one after the other, and what they go
    through.
    """

    home: Path
    door: str
    steps: tuple[Step, ...]
    named: Mapping[str, str]
    engine: Settings | None  # of the Prefect server
    studio: KillableStudio | None

    def revive(self) -> None:
        """Start again what was killed."""
        if self.studio is not None:
            self.studio.start()
        if self.engine is not None:
            start_prefect(self.engine, _hush)


def _hush(_: str) -> None:
    """Nobody hears that a server starts."""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serve_model() as served:
        served.is_steady = True
        served.delay = 0.03
        yield served


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The folder of a Prefect server."""
    settings = settings_of(tmp_path_factory.mktemp("engine"))
    start_prefect(settings, _hush)
    yield settings
    stop_prefect(settings)


@pytest.fixture(params=range(RUNS))
def number(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def journey(
    number: int, tmp_path: Path, server: ModelServer, request: pytest.FixtureRequest
) -> Callable[[str], Journey]:
    roles = stub_roles(server, name=PRICED, concurrency=CONCURRENCY)
    told = {"models": roles, "samples": SAMPLES, "shard_size": 6, "review": {"spot_checks": 4}}
    recipe = str(write_unmeasured_recipe(tmp_path, **told))
    candidates = str(
        write_unmeasured_recipe(
            tmp_path,
            name="candidates",
            **told,
            candidates=[{"label": "one", "model": roles["generator"]}],
        )
    )
    door = DOORS[(SEED + number) % len(DOORS)]
    named, engine, studio = dict[str, str](), None, None
    steps: list[Step] = [("build", recipe, "--no-review")]
    if door == "prefect":
        engine = request.getfixturevalue("engine")
        named = {"PREFECT_API_URL": start_prefect(engine, _hush).api, "HOME": str(tmp_path)}
    if door == "studio":
        studio = request.getfixturevalue("killable_studio")
        named = {"LABEL_STUDIO_URL": studio.info.url, "LABEL_STUDIO_API_KEY": studio.info.token}
        steps = [("build", recipe), ("review", "push"), PEOPLE, ("review", "pull")]
    steps += [("release", "create", "v1"), ("evaluate", "v1", "--recipe", candidates), ("publish",)]
    return lambda name: Journey(tmp_path / name, door, tuple(steps), named, engine, studio)


def run_by_two_workers(journey: Journey, command: Step) -> "subprocess.Popen[str]":
    return start(*command, home=journey.home, **{"CALLWRIGHT_WORKERS": "2"} | dict(journey.named))


def people_answer(journey: Journey) -> None:
    """Each task stands at the server once; the first are accepted, and the next ones rejected."""
    assert journey.studio is not None
    with closing(People(journey.studio.info.url, journey.studio.info.token)) as people:
        tasks = sorted(people.tasks(), key=lambda task: str(task.data["callwright_key"]))
        assert [key for key, times in Counter(people.keys()).items() if times > 1] == []
        assert tasks, "people are asked"
        for place, task in enumerate(tasks[:4]):
            answer = {"reasons": ["other"]} if place % 2 else {"comment": "Good."}
            people.annotate(task.id, "reject" if place % 2 else "accept", **answer)


def state(journey: Journey) -> dict[str, Any]:
    found = warehouse_of(settings_of(journey.home)).rows_by_name(
        {name: (sql, ()) for name, sql in SAME.items()}
    )
    return dict(found)


def killed(process: "subprocess.Popen[str]", draw: random.Random, _: Journey) -> None:
    process.kill()


def worker_killed(process: "subprocess.Popen[str]", draw: random.Random, _: Journey) -> None:
    with suppress(FileNotFoundError, ProcessLookupError):
        children = (
            Path(f"/proc/{process.pid}/task/{process.pid}/children")
            .read_text(encoding="ascii")
            .split()
        )
        if children:
            os.kill(int(draw.choice(children)), signal.SIGKILL)


def stopped(process: "subprocess.Popen[str]", draw: random.Random, _: Journey) -> None:
    """Ctrl-C, now and then twice, the end of a session, or a closed terminal."""
    with suppress(ProcessLookupError):
        sign = draw.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
        os.killpg(process.pid, sign)
        if draw.random() < 0.5:
            time.sleep(draw.uniform(0, 0.5))
            os.killpg(process.pid, sign)


def held(_: "subprocess.Popen[str]", draw: random.Random, journey: Journey) -> None:
    """Another process has the warehouse open for a while."""
    path = str(journey.home / "warehouse.duckdb")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, path, str(draw.choice(HELD))], stderr=subprocess.DEVNULL
    ) as holder:
        holder.wait()


def twice(_: "subprocess.Popen[str]", draw: random.Random, journey: Journey) -> None:
    """The same command at the same time."""
    run_by_two_workers(journey, journey.steps[0]).communicate(timeout=900)


def disk_full(process: "subprocess.Popen[str]", draw: random.Random, _: Journey) -> None:
    """No file of the process and its workers may grow past a size."""
    with suppress(ProcessLookupError, PermissionError):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM, ROOM))


def prefect_killed(process: "subprocess.Popen[str]", draw: random.Random, journey: Journey) -> None:
    assert journey.engine is not None
    if found := serving_process(_places(journey.engine)):
        with suppress(ProcessLookupError):
            os.kill(found[0], signal.SIGKILL)


def studio_killed(process: "subprocess.Popen[str]", draw: random.Random, journey: Journey) -> None:
    assert journey.studio is not None
    if serving_process(journey.studio.places) is not None:
        journey.studio.kill()


FAULTS = (killed, killed, worker_killed, stopped, held, twice, disk_full)
MORE = {
    "plain": (),
    "prefect": (prefect_killed, prefect_killed),
    "studio": (studio_killed, studio_killed),
}


def carry_out(
    journey: Journey, command: tuple[str, ...], draw: random.Random, faults: int, log: list[str]
) -> None:
    """Run a command with so many faults, then again until it ends well."""
    for attempt in range(MOST_TRIES):
        process = run_by_two_workers(journey, command)
        if attempt < faults:
            fault, after = draw.choice((*FAULTS, *MORE[journey.door])), draw.uniform(0.3, 6.0)
            log.append(f"{' '.join(command[:2])}: {fault.__name__} after {after:.2f} s")
            with suppress(subprocess.TimeoutExpired):
                process.wait(after)
            if process.poll() is None:
                fault(process, draw, journey)
        _, errors = process.communicate(timeout=900)
        assert "Traceback" not in errors or process.returncode < 0, (log, errors)
        if process.returncode == 0 and attempt >= faults - 1:
            journey.revive()
            return
        journey.revive()
        time.sleep(0.3)
    raise AssertionError((log, errors))


def walk(journey: Journey, draw: random.Random, log: list[str]) -> dict[str, Any]:
    """Run all commands with so many faults as are drawn for each; what is kept in the end."""
    for step in journey.steps:
        if step == PEOPLE:
            people_answer(journey)
        else:
            carry_out(journey, step, draw, draw.choice([0, 1, 1, 2, 3]) if log else 0, log)
    found = state(journey)
    if journey.studio is not None:
        with closing(People(journey.studio.info.url, journey.studio.info.token)) as people:
            found["tasks"] = people.keys()
            people.remove_projects()
    return found


class RequestCount(NamedTuple):
    """What the model's server counted on a way: requests beyond the first of each question, and
    what was answered.
    """

    again: int
    answered: int

    @classmethod
    def at(cls, server: ModelServer) -> "RequestCount":
        return cls(server.requests - len(server.asked), server.answered.total())


@pytest.fixture(scope="module")
def undisturbed() -> dict[str, dict[str, Any]]:
    """What is kept in the end where nothing happens, by the door."""
    return {}


def test_what_is_disturbed_ends_as_what_is_not(
    number: int,
    journey: Callable[[str], Journey],
    server: ModelServer,
    undisturbed: dict[str, dict[str, Any]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    disturbed = journey("disturbed")
    with capsys.disabled():
        sys.stdout.write(f"CALLWRIGHT_FAULT_SEED={SEED}, run {number} ({disturbed.door})\n")
    if disturbed.door not in undisturbed:
        server.forget()
        undisturbed[disturbed.door] = walk(journey("undisturbed"), random.Random(0), [])
        assert RequestCount.at(server).again == 0, "nothing is asked twice"
    log = [disturbed.door]
    server.forget()
    found = walk(disturbed, random.Random(f"{SEED} {number}"), log)
    for name, rows in undisturbed[disturbed.door].items():
        assert found[name] == rows, (name, log)
    under_way = 2 * CONCURRENCY * (len(log) - 1)  # when something happened
    counted, noted = (
        RequestCount.at(server),
        warehouse_of(settings_of(disturbed.home)).rows(NOTED)[0]["cost"] / PRICE,
    )
    assert counted.again <= under_way, log
    assert counted.answered - under_way <= round(noted, 6) <= counted.answered, log
    assert leftovers(settings_of(disturbed.home)) == [], log
    assert not list(disturbed.home.glob(".reading-*")), log
    published = disturbed.home / "published"
    assert not list(published.glob(".unfinished-*")), log
    with duckdb.connect(str(published / "warehouse.duckdb"), read_only=True) as read:
        assert read.execute("select count(*) from samples").fetchall() == [(len(found["samples"]),)]
