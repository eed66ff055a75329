"""What a run tells of its models while they answer slowly."""

import asyncio
import time
from pathlib import Path

import pytest

import callwright.flows.progress
from callwright.flows.progress import (
    Phase,
    PhaseCount,
    SilentProgress,
    Work,
    counted,
    duration,
    traffic_sentence,
    traffic_state,
    watch_traffic,
)
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.plan import phases_of
from callwright.llm.limits import Absence, Traffic


class Listening(SilentProgress):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


class Counting(SilentProgress):
    """Keeps how far stretches are."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []
        self.done: list[int] = []

    def begin(self, title: str, total: int) -> None:
        self.begun.append((title, total))

    def advance(self, count: int) -> None:
        self.done.append(count)


@pytest.mark.parametrize(
    ("total", "told"), [(999, []), (1_000, [100] * 10), (1_050, [*[100] * 10, 50])]
)
def test_many_items_tell_how_far_they_are_and_few_do_not(total: int, told: list[int]) -> None:
    progress = Counting()
    assert list(counted(iter(range(total)), "Writing v1", total, progress)) == list(range(total))
    assert progress.done == told
    assert progress.begun == ([("Writing v1", total)] if told else [])


def answered(count: int) -> Traffic:
    traffic = Traffic()
    for _ in range(count):
        with traffic.request("requests", "local/a.gguf"):
            pass
    traffic._models["local/a.gguf"]._seconds = 12.0 * count
    return traffic


def test_a_sentence_tells_what_is_asked_what_came_and_how_long_it_takes() -> None:
    traffic = answered(6)
    with traffic.request("requests", "local/a.gguf"), traffic.request("values", "local/a.gguf"):
        said = traffic_sentence(traffic, Work("single_turn", 10, 4, 2), sent=8, answered=6)
    # 34 requests are left, two at once, 12 s each
    assert (
        said
        == "single_turn: 8 asked, 6 answered (12.0 s an answer), now values of local/a.gguf; at"
        " most 3 min to go at this pace."
    )


def test_before_the_first_answer_no_time_is_promised() -> None:
    traffic = Traffic()
    with traffic.request("requests", "a/b"):
        said = traffic_sentence(traffic, Work("single_turn", 10, 4, 2), sent=1, answered=0)
    assert said == "single_turn: 1 asked, 0 answered (none within 0 s), now requests of a/b."


def test_instant_answers_of_one_model_promise_nothing_of_a_slow_one() -> None:
    traffic = answered(2)
    for _ in range(1_000):
        with traffic.request("values", "template/v1"):
            pass
    with traffic.request("requests", "local/a.gguf"):
        said = traffic_sentence(
            traffic, Work("single_turn", 1_000, 2, 16), sent=1_003, answered=1_002
        )
    # 998 requests are left, one at once, 12 s each
    assert said.endswith(
        "1002 answered (12.0 s an answer), now requests of local/a.gguf; at most 3 h 20 min to go"
        " at this pace."
    )


def test_no_time_is_promised_where_more_was_asked_than_was_foreseen() -> None:
    traffic = answered(6)
    with traffic.request("requests", "local/a.gguf"):
        said = traffic_sentence(traffic, Work("single_turn", 2, 3, 2), sent=7, answered=6)
    assert "to go" not in said


def test_while_a_model_is_away_it_is_told_which_since_when_until_when_and_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("LOOK", "BRIEF"):
        monkeypatch.setattr(callwright.flows.progress, name, 0.01)
    traffic, listening = Traffic(), Listening()
    absence = Absence("a/b can't answer now: Loading model", 1_000_000.0, 1_000_300.0)

    async def run() -> None:
        async with watch_traffic(traffic, listening, Work("single_turn", 2, 3, 2)):
            traffic.note_absence("a/b", absence)
            assert "Loading model" in traffic_state(traffic)
            await asyncio.sleep(0.1)
            traffic.note_absence("a/b", None)
            await asyncio.sleep(0.1)

    asyncio.run(run())
    since, until = (time.strftime("%H:%M:%S", time.localtime(moment)) for moment in absence[1:])
    assert listening.sentences == [
        (
            f"Waiting for a/b since {since}, until {until} at the latest: a/b can't answer now:"
            " Loading model"
        ),
        "a/b answers again.",
    ]


def test_nothing_is_told_where_nothing_was_asked_nor_after_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(callwright.flows.progress, "FIRST_WORD", 0.01)
    monkeypatch.setattr(callwright.flows.progress, "BETWEEN", 0.01)
    idle, busy, listening = Traffic(), answered(3), Listening()

    async def run() -> None:
        async with watch_traffic(idle, listening, Work("idle", 1, 1, 1)):
            await asyncio.sleep(0.05)
        assert not listening.sentences
        async with watch_traffic(busy, listening, Work("busy", 1, 1, 1)):
            with busy.request("more", "a/b"):
                await asyncio.sleep(0.05)
        count = len(listening.sentences)
        await asyncio.sleep(0.05)
        assert count == len(listening.sentences) >= 1
        assert listening.sentences[0].startswith(
            "busy: 1 asked, 0 answered"
        )  # of this run, not of those before

    asyncio.run(run())


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59.4, "59 s"), (200, "3 min"), (3600, "1 h"), (7500, "2 h 5 min")],
)
def test_durations_are_said_as_people_do(seconds: float, said: str) -> None:
    assert duration(seconds) == said


class Live(Listening):
    """Has a place for what is under way."""

    is_live = True

    def __init__(self) -> None:
        super().__init__()
        self.states: list[str] = []

    def show(self, state: str) -> None:
        self.states.append(state)


async def test_where_somebody_looks_the_state_stands_in_one_place_and_is_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("FIRST_WORD", "BETWEEN", "LIVE"):
        monkeypatch.setattr(callwright.flows.progress, name, 0.01)
    traffic, live = answered(6), Live()
    traffic.cost = 0.25
    async with watch_traffic(traffic, live, Work("single_turn", 10, 4, 2)):
        with traffic.request("requests", "local/a.gguf"):
            await asyncio.sleep(0.05)
    assert live.sentences == []
    assert set(live.states[:-1]) == {
        "6 answered, 1 waiting, 12.0 s an answer, 0 tokens, $0.2500: requests of local/a.gguf"
    }
    assert live.states[-1] == ""
    assert traffic_state(Traffic()) == "0 answered, 0 waiting, none within 0 s, 0 tokens, $0.0000: "


def test_samples_done_of_the_whole_are_counted_by_what_is_left_of_each_phase() -> None:
    count = PhaseCount(
        [Phase("single_turn", 40), Phase("multi_step", 20, variants=10), Phase("landing")]
    )
    count.begin("single_turn", 25)  # 15 were made by a build that was stopped
    assert (count.done, count.total) == (15, 60)
    count.advance(25)
    count.begin("single_turn", 3)  # in place of some that did not pass
    assert (count.done, count.number) == (40, 1)
    count.begin("multi_step", 2)
    count.advance(1)
    assert (count.done, [one.title for one in count.to_come]) == (50, ["landing"])
    count.begin("checks.format", 500)
    assert (count.done, count.number) == (50, 2)


def test_a_build_has_a_phase_for_each_group_of_each_wave() -> None:
    stated = {
        "name": "p",
        "tools": [{"generate": ["Weather"]}],
        "samples": {"perfect": 4, "imperfect": 6, "external": 2, "mQmA_external": 3},
    }
    phases = [*phases_of(parse_recipe(stated, Path(), "p"))]
    assert [(one.title, one.samples) for one in phases] == [
        ("toolset", 0),
        ("single_turn", 10),
        ("external", 2),
        ("dialogue", 3),
        ("trajectories", 3),
        ("external", 3),
        ("measuring", 0),
        ("landing", 0),
    ]
