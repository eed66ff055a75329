"""What the terminal shows: tables that fit, and blocks where they do not, and one picture of
what is under way.
"""

import io
import re
import sys
from collections.abc import Callable

import pytest

from callwright.flows.cli.screen import Terminal, show_table
from callwright.flows.progress import Phase

COLUMNS = ("recipe", "build", "stage_group", "entered", "is_latest")
ROWS = [
    ("hammerbench", "0123456789abcdef" * 2, "single_turn", 100, True),
    ("demo", "f" * 32, "landing", 7, False),
]


def shown(
    capsys: pytest.CaptureFixture[str],
    columns: tuple[str, ...],
    rows: list[tuple[object, ...]],
    width: int,
) -> list[str]:
    show_table(columns, rows, width=width)
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= width
    return lines


def test_what_fits_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, COLUMNS, ROWS, 90)
    assert lines[0].split() == list(COLUMNS)
    assert [line.split()[1] for line in lines[1:]] == [row[1] for row in ROWS]


def test_what_is_too_wide_is_a_block_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, COLUMNS, ROWS, 60)
    assert [line for line in lines if line.startswith("[")] == ["[ 1 ]", "[ 2 ]"]
    assert [line.split() for line in lines[1:6]] == [
        [name, str(value)] for name, value in zip(COLUMNS, ROWS[0], strict=True)
    ]


class TerminalStream(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def work_before(terminal: Terminal) -> None:
    terminal.say("Begun.")
    for title in ("single_turn", "dialogue"):
        terminal.begin(title, 20)
        terminal.advance(10)
        terminal.show("8 answered, 2 waiting")
        terminal.say(f"Half of {title}.")
        terminal.advance(10)


def drawn(monkeypatch: pytest.MonkeyPatch, work: Callable[[Terminal], None]) -> list[str]:
    """The lines that a terminal was given, those of pictures that others were drawn over too."""
    stream = TerminalStream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Terminal() as terminal:
        work(terminal)
        assert terminal.is_live
    written = stream.getvalue()
    assert "\x1b[1A" in written  # the picture is drawn over the one before
    words = re.sub(r"\x1b\[[?\d;]*[a-zA-Z]", "", written).replace("\r", "\n")
    return [line.strip() for line in words.splitlines() if line.strip()]


def test_a_terminal_has_one_picture_in_place_and_a_line_for_each_stretch_that_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = drawn(monkeypatch, work_before)
    for title in ("single_turn", "dialogue"):
        assert len([line for line in lines if line.startswith(f"{title}: 20 of 20 in ")]) == 1
        assert f"Half of {title}." in lines
    assert "8 answered, 2 waiting" in lines
    assert lines[-1].startswith("dialogue: 20 of 20")  # nothing of the picture is left


PHASES = (Phase("single_turn", 20), Phase("dialogue", 20), Phase("measuring"), Phase("landing"))


def phased_work(terminal: Terminal) -> None:
    terminal.plan("Build", PHASES)
    for title in ("single_turn", "dialogue"):
        terminal.begin(title, 20)
        for _ in range(4):
            terminal.advance(5)
    terminal.begin("measuring", 7)
    terminal.advance(7)


def test_work_in_phases_has_one_bar_for_the_whole_and_names_what_is_to_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = drawn(monkeypatch, phased_work)
    assert lines[-1].startswith("Build: 40 of 40 in ")
    assert len([line for line in lines if " in 0 s" in line]) == 1
    bars = {line for line in lines if line.startswith("Build ")}
    assert any("0/40" in line for line in bars)
    assert not any("/20" in line or "/7" in line for line in bars)
    assert "preparing; then single_turn, dialogue, measuring, landing" in lines


def test_without_a_terminal_a_line_now_and_then_tells_how_far_the_whole_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with Terminal() as terminal:
        phased_work(terminal)
    lines = capsys.readouterr().err.splitlines()
    assert (
        lines[0] == "Build: 40 samples to make. Phases: single_turn, dialogue, measuring, landing."
    )
    assert lines[1].startswith(
        "Build: 5 of 40 samples (phase 1 of 4, single_turn), about 0 s to go"
    )
    assert lines[-1] == "Build: 40 of 40 samples (phase 2 of 4, dialogue)"
    assert len(lines) == 9


def test_what_a_terminal_would_obey_is_shown_in_tables_messages_and_progress(
    capsys: pytest.CaptureFixture[str],
) -> None:
    evil = "\x1b[2J\x07\x9b\u202e\r"
    seen = r"\x1b[2J\x07\x9b\u202e\x0d"
    for width in (30, 90):
        show_table((f"a{evil}",), [(f"[b]{evil}\nnext line",)], width=width)
        printed = capsys.readouterr().out
        assert not (set(evil) - {*"[2J"}) & set(printed)
        assert "next" in printed
    with Terminal() as screen:
        screen.begin(evil, 1)
        screen.say(evil)
    assert capsys.readouterr().err == f"{seen}: 1 to do\n{seen}\n"
