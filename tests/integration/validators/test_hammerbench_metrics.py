"""HammerBench's metrics over logs."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.validators.metrics.hammerbench import logs
from callwright.validators.metrics.hammerbench.scores import (
    LogRow,
    score_conversations,
    score_turns,
)
from callwright.warehouse.errors import ConfigurationError, RecordError


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


def test_a_perfect_log_scores_perfectly() -> None:
    scores = score_conversations([[RIGHT, RIGHT], [RIGHT]])
    assert (scores.func_acc, scores.args_acc, scores.pn_hr, scores.pn_mr) == (1.0, 1.0, 0.0, 0.0)
    assert scores.pr == pytest.approx(1.0, abs=1e-8)
    assert scores.sr == pytest.approx(1.0, abs=1e-8)
    assert (scores.conversations, scores.snapshots, scores.problems) == (2, 3, ())


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


def test_what_can_not_be_scored_as_a_call_is_a_failure_with_its_reason() -> None:
    scores = score_conversations([[RIGHT, LogRow("Sorry.", "Sorry.")], []])
    assert scores.sr == 0.0
    assert scores.args_acc == 0.5
    assert "no call" in scores.problems[0]
    assert scores.problems[1] == "Conversation 1 has no snapshots."


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


@pytest.mark.parametrize(
    "content", ["{", "{}", '[{"rows": []}]', '[{"FC_res": [{"predict": ""}]}]', '[{"FC_res": 3}]']
)
def test_a_file_that_is_no_log_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "MT_res.json").write_text(content)
    with pytest.raises(ConfigurationError, match=r"MT_res\.json"):
        logs.read_log(tmp_path)
