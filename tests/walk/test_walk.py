"""Whoever follows the pages gets somewhere: an installed wheel, an empty home, default settings,
each command as it stands.
"""

import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.environments import build_wheel, environment_beside_ours
from tests.walk.journey import (
    HEAD,
    Interrupted,
    Step,
    Traveller,
    interrupted_walk,
    nobody_else,
    row_of,
    traveller,
    walk,
)
from tests.walk.pages import PAGES, TOP, blocks_of
from tests.walk.terminal import Ran

STOPPED = 130
MOST_UNRUN = 6
SPEAKS_WITHIN, ENDS_WITHIN, STEP_TAKES = (
    2.0,
    5.0,
    60.0,
)  # seconds of processor time, which a busy machine does not lengthen
PATIENT = 60.0  # seconds of the wall in which it all has to be, however busy the machine is
TABLE = TOP / ".cache" / "walk.md"

pytestmark = [pytest.mark.xdist_group("walk"), pytest.mark.labelstudio]


@pytest.fixture(scope="module")
def inside() -> Iterator[tuple[str, ...]]:
    with nobody_else() as words:
        yield words


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    return environment_beside_ours(folder / "env", str(build_wheel(folder)))


@pytest.fixture(scope="module")
def straight(
    programs: Path, inside: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Traveller, list[Step]]]:
    """Somebody who has followed all pages, and their steps."""
    with traveller(programs, tmp_path_factory.mktemp("straight") / "folder", inside) as someone:
        steps = [*walk(someone)]
        TABLE.write_text(HEAD + "".join(map(row_of, steps)), encoding="utf-8")
        yield someone, steps


@pytest.fixture(scope="module")
def steps(straight: tuple[Traveller, list[Step]]) -> list[tuple[Step, Ran]]:
    return [(step, step.ran) for step in straight[1] if step.ran is not None]


@pytest.fixture(scope="module")
def interrupted(
    programs: Path,
    inside: tuple[str, ...],
    straight: tuple[Traveller, list[Step]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Traveller, list[Interrupted]]]:
    """Somebody else who is stopped twice at each long step."""
    with traveller(programs, tmp_path_factory.mktemp("interrupted") / "folder", inside) as someone:
        found = [*interrupted_walk(someone)]
        with TABLE.open("a", encoding="utf-8") as file:
            file.write(
                "\n"
                + HEAD
                + "".join(row_of(step) for one in found for step in (*one.ended, one.whole))
            )
        yield someone, found


def told(found: list[tuple[Step, Ran]]) -> str:
    return "\n\n".join(
        f"{step.page}: {step.command}\nexit {ran.code}\n{ran.said[-2000:]}" for step, ran in found
    )


def test_every_block_of_the_pages_says_what_it_is_and_few_are_not_run() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page)]
    assert [(block.page, block.text[:60]) for block in blocks if not block.language] == []
    unrun = [block.reason for block in blocks if block.language == "sh" and block.reason]
    assert 0 < len(unrun) <= MOST_UNRUN
    marks = sum((TOP / page).read_text(encoding="utf-8").count("<!-- not run:") for page in PAGES)
    assert marks == len(unrun), "a mark stands right above its block"


def test_every_page_leads_somewhere(steps: list[tuple[Step, Ran]]) -> None:
    assert {step.page for step, _ in steps} == {*PAGES} - {"docs/annotating.md"}, (
        "annotators have a screen and no shell"
    )


def test_each_command_does_what_the_page_says_it_does(steps: list[tuple[Step, Ran]]) -> None:
    allowed = {True: {0, STOPPED}, False: {0}}  # those that serve until ctrl-C end by it
    wrong = [(step, ran) for step, ran in steps if ran.code not in allowed[bool(step.signal)]]
    assert not wrong, told(wrong)


def test_no_command_shows_a_traceback_or_calls_itself_a_bug(steps: list[tuple[Step, Ran]]) -> None:
    wrong = [
        (step, ran)
        for step, ran in steps
        if re.search(r"Traceback \(most recent|[Bb]ug, to be reported", ran.said)
    ]
    assert not wrong, told(wrong)


def test_each_command_says_something_within_two_seconds(steps: list[tuple[Step, Ran]]) -> None:
    ours = [(step, ran) for step, ran in steps if step.command.startswith("callwright")]
    late = [
        (step.command, ran.first_seconds, ran.first_cpu)
        for step, ran in ours
        if ran.first_cpu is None
        or ran.first_seconds is None
        or ran.first_cpu > SPEAKS_WITHIN
        or ran.first_seconds > PATIENT
    ]
    assert not late


def test_no_command_takes_more_than_a_minute_of_a_processor(steps: list[tuple[Step, Ran]]) -> None:
    assert not [(step.command, ran.cpu) for step, ran in steps if ran.cpu > STEP_TAKES]


def endings(found: list[Interrupted]) -> list[tuple[Step, Ran]]:
    return [(step, step.ran) for one in found for step in one.ended if step.ran is not None]


def test_ctrl_c_and_sigterm_end_every_long_step_within_five_seconds(
    interrupted: tuple[Traveller, list[Interrupted]],
) -> None:
    ended = endings(interrupted[1])
    late = [
        (step.command, step.signal, ran.ending_seconds, ran.ending_cpu)
        for step, ran in ended
        if ran.code is None
        or (ran.ending_cpu or 0) > ENDS_WITHIN
        or (ran.ending_seconds or 0) > PATIENT
    ]
    assert not late
    codes = {
        0,
        STOPPED,
        -signal.SIGTERM,
        -signal.SIGINT,
    }  # the last two where it was done and about to end
    strange = [(step, ran) for step, ran in ended if ran.code not in codes]
    assert not strange, told(strange)
    stopped = [step.command for step, ran in ended if ran.code == STOPPED]
    assert len(stopped) > len(ended) * 2 // 3, "most were under way"


def test_who_is_stopped_is_told_so_without_a_traceback(
    interrupted: tuple[Traveller, list[Interrupted]],
) -> None:
    wrong = [
        (step, ran)
        for step, ran in endings(interrupted[1])
        if "Traceback" in ran.said or "Exception" in ran.said
    ]
    assert not wrong, told(wrong)


def test_nothing_is_lost_by_being_stopped(
    interrupted: tuple[Traveller, list[Interrupted]], straight: tuple[Traveller, list[Step]]
) -> None:
    """The same command goes on afterwards, and what comes of all of them is what comes of those
    that nobody stopped.
    """
    wrong = [
        (one.whole, one.whole.ran)
        for one in interrupted[1]
        if one.whole.ran is not None and one.whole.ran.code != 0
    ]
    assert not wrong, told(wrong)
    once = {step.command.partition("  ")[0]: step.ran for step in straight[1]}
    twice = {one.whole.command: one.whole.ran for one in interrupted[1]}
    for command, mark in (
        ("callwright release create v1", r"content hash \w+"),
        ("callwright evaluate v1 --model template/v1", r"direct .*"),
    ):
        here, there = once[command], twice[command]
        assert here is not None
        assert there is not None
        assert re.findall(mark, here.said)[0] == re.findall(mark, there.said)[0]
    rows = "exports/v1-openai/v1.jsonl"
    assert (interrupted[0].folder / rows).read_bytes() == (straight[0].folder / rows).read_bytes()
