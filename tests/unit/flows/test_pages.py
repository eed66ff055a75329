"""What the page makes of records, without a warehouse: marked evidence, answers beside gold,
intervals, plots.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from starlette.testclient import TestClient

from callwright.flows.pages.conversation import (
    Piece,
    cut_text,
    pair_calls,
    show_answer,
    show_conversation,
)
from callwright.flows.pages.evaluations import contestant_name
from callwright.flows.pages.look import PromptText, environment, prompts_of
from callwright.flows.pages.serving import page_app
from callwright.flows.pages.site import _file_name
from callwright.llm.prompts import version_at
from callwright.validators.metrics.ratios import paired_test
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Evidence,
    GoldCall,
    ReplyTurn,
    Sample,
    UserTurn,
)
from callwright.warehouse.store import Warehouse


def sample_of(*turns: UserTurn | CallTurn | ReplyTurn) -> Sample:
    return Sample(kind="sQsA", language="en", category="Trains", candidates=("t",), turns=turns)


def span(argument: str, turn: int, text: str, quote: str) -> Evidence:
    start = text.index(quote)
    return Evidence(
        argument=argument, kind="span", turn=turn, start=start, end=start + len(quote), quote=quote
    )


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(-5, 50), st.integers(-5, 50), st.integers(1, 9)), max_size=6),
)
def test_a_text_in_pieces_is_the_text(text: str, stretches: list[tuple[int, int, int]]) -> None:
    pieces = cut_text(text, stretches)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


def test_the_words_that_prove_an_argument_are_marked_with_its_number() -> None:
    first, second = "Trains to Rome, please.", "Tomorrow."
    city, day = span("to", 0, first, "Rome"), span("date", 3, second, "Tomorrow")
    sample = sample_of(
        UserTurn(text=first),
        CallTurn(calls=(GoldCall(tool="find", arguments={"to": "Rome"}, evidence=(city,)),)),
        ReplyTurn(text="When?"),
        UserTurn(text=second),
        CallTurn(
            calls=(
                GoldCall(
                    tool="find", arguments={"to": "Rome", "date": "tomorrow"}, evidence=(city, day)
                ),
            )
        ),
    )
    turns = show_conversation(sample, [city, day])
    assert turns[0].pieces == (Piece("Trains to "), Piece("Rome", (1,)), Piece(", please."))
    assert turns[3].pieces == (Piece("Tomorrow", (2,)), Piece("."))
    last = turns[4].calls[0].arguments
    assert [(one.name, one.number, one.sign, one.how) for one in last] == [
        ("to", 1, "", "said: word for word"),
        ("date", 2, "+", "said: word for word"),
    ]


def call(tool: str, **arguments: str | int) -> Call:
    return Call(tool=tool, arguments=dict(arguments))


def test_an_answer_stands_beside_the_call_that_it_is_made_for() -> None:
    pairs = pair_calls([call("a", x=1, y=2), call("b")], [call("c"), call("a", x=1, y=3, z=4)])
    assert [(one.due, *one.answers) for one in pairs] == [("a", "a"), ("b", ""), ("", "c")]
    assert [(one.name, one.due, *one.answers, *one.right) for one in pairs[0].arguments] == [
        ("x", "1", "1", True),
        ("y", "2", "3", False),
        ("z", None, "4", False),
    ]


def test_an_answer_that_is_no_call_is_shown_by_its_words() -> None:
    shown = show_answer({"due": "[]", "calls": None, "text": "Nothing \x00 fits.", "problem": ""})
    assert (shown.calls, shown.is_unreadable) == ((), True)
    assert shown.words == "Nothing \\u0000 fits."


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(0, 0, 1.0), (5, 5, 1.0), (10, 0, 2 / 2**10), (1, 8, 20 / 2**9)]
)
def test_the_paired_test_is_the_exact_binomial(one: int, other: int, expected: float) -> None:
    assert paired_test(one, other).p_value == pytest.approx(expected)


def test_a_contestant_is_named_by_what_is_not_as_usual() -> None:
    assert contestant_name("gpt~direct~first~0") == "gpt"
    assert (
        contestant_name("a~b~backward/yaml~always~2")
        == "a~b, by backward/yaml, all tools always, run 3"
    )


def test_plots_show_what_they_are_told_and_run_none_of_it() -> None:
    plots: Any = environment().globals["plots"]
    drawn = plots.counted({'"><script>': 2, "refused": 0}, ['"><script>', "refused"], 4)
    assert "<script>" not in drawn
    assert Markup.escape('"><script>: 2') in drawn
    assert plots.stacked({"passed": 3, "failed": 1}, ("passed", "failed"), 8).count("<rect") == 2
    assert [str(plots.shade(part, 100)) for part in (0, 1, 50, 100)] == [
        "",
        "heat1",
        "heat4",
        "heat9",
    ]


def test_each_address_has_a_file_of_its_own() -> None:
    names = {
        _file_name(path, query)
        for path, query in [
            ("/", ""),
            ("/samples", ""),
            ("/x/A", ""),
            ("/x/a", ""),
            ("/x/a", "p=1"),
        ]
    }
    assert len(names) == 5
    assert {"index.html", "samples.html"} < names


def test_the_text_of_a_prompt_is_found_by_its_version() -> None:
    path = "generators/single_turn/prompts/write_request.j2"
    [prompt] = prompts_of(version_at(path), {})
    assert prompt.path == path
    assert "--- user" in prompt.text
    own = PromptText("write_request.j2", "my own")
    assert prompts_of("0123456789ab+x", {"0123456789ab": own}) == [own]


@pytest.mark.parametrize(
    ("host", "status"), [("evil.example", 400), ("127.0.0.1.evil.example", 400), ("10.0.0.1", 400)]
)
def test_the_page_answers_to_the_names_of_this_machine_only(
    host: str, status: int, tmp_path: Path
) -> None:
    with TestClient(
        page_app(Warehouse(tmp_path / "no.duckdb")), base_url=f"http://{host}"
    ) as stranger:
        assert stranger.get("/").status_code == status
