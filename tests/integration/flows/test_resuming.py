"""Going on: what was answered is never asked again, whatever ended the build before."""

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from callwright.flows.settings import Settings
from tests.support.flows.model_server import MODEL, PRICED, ModelServer
from tests.support.flows.small_builds import (
    assert_balanced,
    build,
    leftovers,
    one,
    row_counts,
    run_here,
    sample_keys,
    settings_of,
    start,
    stub_roles,
    stub_settings,
    unmeasured_recipe,
    warehouse_of,
    write_unmeasured_recipe,
)
from tests.support.sampling import slow

SAMPLES = {"perfect": 6, "imperfect": 2, "irrelevant": 2}
FEW = {"perfect": 3, "irrelevant": 1}


def wait_until(is_so: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_raising_a_count_asks_for_the_difference_only(
    model_server: ModelServer, tmp_path: Path
) -> None:
    settings = settings_of(tmp_path / "few")
    others = stub_settings(
        model_server, name="openai/another"
    )  # no model judges what it made itself
    roles = stub_roles(model_server) | {"checker": others, "judge": others}
    few = build(unmeasured_recipe(samples={"perfect": 5}, models=roles), settings)
    first = model_server.requests
    assert (few.landed, model_server.asked.most_common(1)[0][1]) == (5, 1)

    build(unmeasured_recipe(samples={"perfect": 5}, models=roles), settings)
    assert model_server.requests == first, "an unchanged recipe asks nothing"

    more = build(unmeasured_recipe(samples={"perfect": 8}, models=roles), settings)
    assert more.landed >= 7  # the template may misread one of its own
    assert model_server.asked.most_common(1)[0][1] == 1, "no question is asked twice"
    grown = model_server.requests
    model_server.forget()
    alone = settings_of(tmp_path / "alone")
    build(unmeasured_recipe(samples={"perfect": 8}, models=roles), alone)
    assert model_server.requests == grown, "in two steps it costs what it costs in one"
    assert sample_keys(alone) == sample_keys(settings)


def test_a_model_across_a_wire_makes_as_much_as_the_embedded_one_and_judges_nothing_of_it(
    model_server: ModelServer, tmp_path: Path
) -> None:
    near, far = settings_of(tmp_path / "near"), settings_of(tmp_path / "far")
    build(unmeasured_recipe(samples=SAMPLES), near)
    report = build(unmeasured_recipe(samples=SAMPLES, models=stub_roles(model_server)), far)
    assert_balanced(report, far)
    what = "concat_ws(' ', kind, language, body->>'$.candidates')"
    made = f"select list(what order by what) from (select {what} as what from samples)"
    assert one(near, made) == one(far, made)
    assert one(near, "select count(*) from accepted_samples where grade = 'judged'") > 0
    assert one(far, "select count(*) from accepted_samples where grade = 'judged'") == 0, (
        "no model judges its own"
    )


def test_a_build_that_was_killed_goes_on_and_asks_nothing_twice(
    model_server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_API_KEY", "sk-stub")
    model_server.delay = 0.05
    model_server.is_steady = True  # an answer that never reached the disk is asked for again
    roles = stub_roles(model_server, name=PRICED, concurrency=4, api_key_variable="STUB_API_KEY")
    recipe = write_unmeasured_recipe(tmp_path, models=roles, samples=SAMPLES, shard_size=8)
    settings = settings_of(tmp_path / "home")
    process = start("build", str(recipe), "--no-review", home=settings.home, STUB_API_KEY="sk-stub")
    wait_until(lambda: model_server.requests >= 20, process)
    process.kill()
    process.communicate()
    while model_server.at_once:  # what was under way is answered into the void
        time.sleep(0.02)
    kept, sent = answers_in(settings.ledger), len(model_server.asked)
    model_server.delay = 0.0

    again = build(unmeasured_recipe(models=roles, samples=SAMPLES, shard_size=8), settings)
    assert_balanced(again, settings)
    assert again.planned == sum(SAMPLES.values())
    twice = [question for question, times in model_server.asked.items() if times > 1]
    assert kept
    assert len(twice) <= sent - len(kept), "what is on the disk is not asked again"
    assert max(model_server.asked.values()) <= 2
    assert leftovers(settings) == []
    noted = one(settings, "select count(*) from llm_calls where cost > 0")
    # What was asked twice was paid twice; the first of the two may be noted, marked as lost.
    assert len(answers_in(settings.ledger)) <= noted <= sum(model_server.asked.values()), (
        "what was paid before is not forgotten"
    )
    assert_each_answer_has_one_call(settings, kept)
    model_server.forget()
    whole = settings_of(tmp_path / "whole")
    build(unmeasured_recipe(models=roles, samples=SAMPLES, shard_size=8), whole)
    assert sample_keys(whole) == sample_keys(settings)


@pytest.mark.parametrize(
    ("name", "requests"),
    [(MODEL, 23), slow(MODEL, 2), slow(MODEL, 9), *(slow(PRICED, at) for at in (2, 9, 23))],
)
def test_answers_and_the_account_of_calls_agree_after_a_kill_with_and_without_a_price(
    model_server: ModelServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    requests: int,
) -> None:
    monkeypatch.setenv("STUB_API_KEY", "sk-stub")
    model_server.delay, model_server.is_steady = 0.03, True
    roles = stub_roles(model_server, name=name, concurrency=4, api_key_variable="STUB_API_KEY")
    recipe = write_unmeasured_recipe(tmp_path, models=roles, samples=SAMPLES, shard_size=8)
    settings = settings_of(tmp_path / "home")
    process = start("build", str(recipe), "--no-review", home=settings.home, STUB_API_KEY="sk-stub")
    wait_until(lambda: model_server.requests >= requests, process)
    process.kill()
    process.communicate()
    kept = answers_in(settings.ledger)

    model_server.delay = 0.0
    build(unmeasured_recipe(models=roles, samples=SAMPLES, shard_size=8), settings)
    assert_each_answer_has_one_call(settings, kept)


def assert_each_answer_has_one_call(settings: Settings, kept: set[str]) -> None:
    """Those `kept` when the build was killed are among them; all have a price or none."""
    calls = warehouse_of(settings).rows(
        "select request, cost from llm_calls where not cached and error = ''"
    )
    assert sorted(call["request"] for call in calls) == sorted(answers_in(settings.ledger))
    assert kept <= {call["request"] for call in calls}
    assert len({call["cost"] > 0 for call in calls}) == 1


def answers_in(ledger: Path) -> set[str]:
    with closing(sqlite3.connect(ledger)) as connection:
        return {key.hex() for (key,) in connection.execute("select key from answers")}


def children_of(pid: int) -> set[int]:
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(status.parent.name)
            found |= {child} | children_of(child)
    return found


def are_gone(pids: set[int], within: float = 60) -> bool:
    deadline = time.monotonic() + within
    while any(is_running(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def is_running(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            != "Z"
        )
    except OSError:
        return False


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_build(tmp_path: Path, ending: signal.Signals) -> None:
    recipe = write_unmeasured_recipe(
        tmp_path, tools=[{"seed": "all"}], samples={"perfect": 4000}, shard_size=2000
    )
    settings = settings_of(tmp_path / "home")
    process = start(
        "build", str(recipe), "--no-review", "--json", home=settings.home, CALLWRIGHT_WORKERS="2"
    )
    wait_until(lambda: len(children_of(process.pid)) >= 3 and settings.ledger.exists(), process)
    children = children_of(process.pid)
    if ending is signal.SIGINT:
        os.killpg(process.pid, ending)  # as a terminal does
    else:
        process.kill()
    stdout, stderr = process.communicate(timeout=120)
    assert are_gone(children)
    assert stdout == ""
    if ending is signal.SIGINT:
        assert process.returncode == 130
        told = [line for line in stderr.splitlines() if not line.startswith("Build:")]
        assert told == ["Stopped. Finished work is kept; run the same command again to continue."]
        assert leftovers(settings) == []


def is_fork_server(pid: int) -> bool:
    try:
        return b"multiprocessing.forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_a_stop_while_the_workers_server_starts_is_no_error(tmp_path: Path) -> None:
    recipe = write_unmeasured_recipe(
        tmp_path, tools=[{"seed": "all"}], samples={"perfect": 4000}, shard_size=2000
    )
    home = tmp_path / "home"
    process = start("build", str(recipe), "--no-review", home=home, CALLWRIGHT_WORKERS="2")
    servers: list[int] = []

    def has_begun() -> bool:
        servers.extend(filter(is_fork_server, children_of(process.pid)))
        return bool(servers)

    wait_until(has_begun, process)
    os.kill(servers[0], signal.SIGINT)  # a terminal's Ctrl-C may reach it before its parent
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert "Traceback" not in stderr
    assert process.returncode == 130
    assert stderr.splitlines()[-1].startswith("Stopped.")


@pytest.mark.parametrize("ending", [signal.SIGINT, slow(signal.SIGTERM), slow(signal.SIGHUP)])
def test_a_build_that_asks_across_a_wire_is_stopped_at_once(
    model_server: ModelServer, tmp_path: Path, ending: signal.Signals
) -> None:
    model_server.delay = (
        300  # a build that waited for it would take longer than the machine may be busy
    )
    recipe = write_unmeasured_recipe(tmp_path, models=stub_roles(model_server), samples=FEW)
    process = start("build", str(recipe), "--no-review", home=tmp_path / "home")
    wait_until(lambda: model_server.requests > 0, process)
    process.send_signal(ending)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-1].startswith("Stopped.")


def test_two_builds_of_one_recipe_at_once_do_not_get_in_each_others_way(
    model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.is_holding = True
    roles = stub_roles(model_server)
    recipe = write_unmeasured_recipe(tmp_path, models=roles, samples=FEW)
    settings = settings_of(tmp_path / "home")
    process = start("build", str(recipe), "--no-review", home=settings.home)
    wait_until(lambda: model_server.requests > 0, process)
    late = run_here("build", str(recipe), "--no-review", home=settings.home)
    model_server.is_holding = False
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 0, stderr
    assert late.returncode == 1
    assert "Another process is running the build" in late.stderr
    counts = row_counts(settings)
    assert build(unmeasured_recipe(models=roles, samples=FEW), settings).landed == one(
        settings, "select count(*) from accepted_samples"
    )
    assert row_counts(settings) == counts
