"""HammerBench's metrics over logs."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.hammerbench import logs
from callwright.validators.metrics.hammerbench.scores import (
    LogRow,
    choose_snapshots,
    irrelevant_rate,
    score_conversations,
    score_rows,
    score_snapshot,
    score_turns,
)
from callwright.warehouse.errors import ConfigurationError, RecordError

ROOT = Path(__file__).parents[3]


def row(
    name: str, label_name: str = "book", *, given: str = "{}", label: dict | None = None
) -> LogRow:
    return LogRow(
        f'```json\n{{"name": "{name}", "arguments": {given}}}\n```',
        {"name": label_name, "arguments": label or {}},
    )


RIGHT = row("book")
WRONG_VALUE = row("book", given='{"city": "Oslo"}', label={"city": "Bergen"})
WRONG_TOOL = row("cancel")
REFUSAL = LogRow("Sorry, none fits.", {"name": "book", "arguments": {"city": "Oslo"}})


def test_a_perfect_log_scores_perfectly() -> None:
    scores = score_conversations([[RIGHT, RIGHT], [RIGHT]])
    assert (scores.func_acc, scores.args_acc, scores.pn_hr, scores.pn_mr) == (1.0, 1.0, 0.0, 0.0)
    assert scores.pr == pytest.approx(1.0, abs=1e-8)
    assert scores.sr == pytest.approx(1.0, abs=1e-8)
    assert (scores.conversations, scores.snapshots, scores.problems) == (2, 3, ())


def test_a_wrong_first_tool_spoils_the_conversation_and_a_later_one_does_not() -> None:
    assert score_conversations([[WRONG_TOOL, RIGHT]]).args_acc == 0.0
    assert score_conversations([[RIGHT, WRONG_TOOL]]).args_acc == 1.0


def test_a_judge_is_not_believed_where_tool_or_names_are_wrong() -> None:
    flags = [[True, True, True]]
    hallucinated = row("book", given='{"city": "Oslo"}')
    scores = score_conversations([[RIGHT, WRONG_VALUE, hallucinated]], flags=flags)
    assert scores.args_acc == pytest.approx(2 / 3)
    assert score_conversations([[RIGHT, WRONG_TOOL, RIGHT]], flags=flags).args_acc == pytest.approx(
        2 / 3
    )


def test_flags_that_do_not_fit_the_log_are_an_error() -> None:
    with pytest.raises(RecordError, match="1 conversations with 1 snapshots"):
        score_conversations([[RIGHT, RIGHT]], flags=[[True]])


def test_only_the_snapshots_chosen_are_scored() -> None:
    conversation = [RIGHT, RIGHT, WRONG_VALUE]
    assert score_conversations([conversation], choice="first").args_acc == 1.0
    assert score_conversations([conversation], choice="last").args_acc == 0.0
    assert score_conversations([conversation], choice=[[1, 2]]).args_acc == 0.5


def test_snapshots_beyond_the_end_are_left_out() -> None:
    assert choose_snapshots([2, 0], [[1, 2], [0]]) == [[1], []]
    with pytest.raises(RecordError, match="for 1 conversations"):
        choose_snapshots([2, 3], [[0]])


def test_what_can_not_be_scored_as_a_call_is_a_failure_with_its_reason() -> None:
    scores = score_conversations([[RIGHT, LogRow("Sorry.", "Sorry.")], []])
    assert scores.sr == 0.0
    assert scores.args_acc == 0.5
    assert "no call" in scores.problems[0]
    assert scores.problems[1] == "Conversation 1 has no snapshots."


def test_an_empty_log_scores_nothing() -> None:
    assert score_conversations([]).func_acc == 0.0
    assert score_rows([], language="en").args_acc == 0.0
    assert irrelevant_rate([]) == 0.0


def test_an_unreadable_reply_misses_every_name() -> None:
    result = score_snapshot(REFUSAL, "en")
    assert (result.tool_right, result.hallucinated, result.missing, result.refused) == (
        False,
        0,
        1,
        True,
    )
    flat = score_rows([RIGHT, REFUSAL], language="en")
    assert (flat.string_ratio, flat.rejection_rate, flat.mean_missing) == (
        0.5,
        0.5,
        pytest.approx(0.5, abs=1e-8),
    )
    assert flat.problems[0].startswith("Row 1: ")


def test_flat_scores_forgive_a_wrong_tool_in_the_arguments() -> None:
    assert score_rows([WRONG_TOOL], language="en").args_acc == 1.0


def test_a_reply_that_says_sorry_in_a_call_of_the_right_tool_is_no_refusal() -> None:
    polite = row("book", given='{"note": "sorry"}', label={"note": "sorry"})
    assert not score_snapshot(polite, "en").refused
    assert irrelevant_rate(["SORRY, no.", "{}"]) == 0.5


@given(flags=st.lists(st.booleans(), max_size=6), func_right=st.booleans())
def test_progress_never_outruns_the_right_snapshots(flags: list[bool], func_right) -> None:
    result = score_turns(flags, func_right=func_right)
    assert 0.0 <= result.progress <= 1.0
    assert result.success == (func_right and bool(flags) and all(flags))
    if flags and func_right:
        assert result.progress * len(flags) <= result.right + 1e-9


@given(
    names=st.lists(st.sampled_from(["book", "cancel"]), min_size=1, max_size=5),
    seed=st.randoms(use_true_random=False),
)
def test_the_order_of_conversations_is_free(names: list[str], seed) -> None:
    conversations = [[row(name), WRONG_VALUE] for name in names]
    shuffled = list(conversations)
    seed.shuffle(shuffled)
    assert score_conversations(conversations) == score_conversations(shuffled)


def test_an_inserted_turn_is_scored_with_the_one_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "SO_case2"
    folder.mkdir()
    (folder / "snapshot_id.json").write_text("[[2], [0]]")
    assert logs.read_snapshot_choice(logs.snapshot_file(folder), folder) == [[2, 3], [0, 1]]
    unchanged = folder / "MT0"
    assert logs.read_snapshot_choice(logs.snapshot_file(unchanged), unchanged) == [[2], [0]]


@pytest.mark.parametrize(
    "content", ["{", "{}", '[{"rows": []}]', '[{"FC_res": [{"predict": ""}]}]', '[{"FC_res": 3}]']
)
def test_a_file_that_is_no_log_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "MT_res.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"MT_res\.json"):
        logs.read_log(tmp_path)


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"turn_flags_res\.json can't be read"):
        logs.read_flags(tmp_path)


def test_a_scorer_loads_nothing_it_does_not_need() -> None:
    slow = {
        "jieba",
        "rouge_score",
        "nltk",
        "numpy",
        "litellm",
        "duckdb",
        "prefect",
        "jsonschema",
        "jinja2",
        "dateparser",
    }
    code = "import sys, callwright.validators.metrics.hammerbench.logs; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    ).stdout
    assert slow & set(loaded.split()) == set()
