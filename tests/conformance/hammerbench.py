"""The cases of HammerBench's evaluators: the newest release's rows and the paper's
conversations.
"""

from pathlib import Path
from typing import Any

from callwright.validators.metrics.hammerbench import logs
from callwright.validators.metrics.hammerbench.scores import (
    Conversation,
    FlatScores,
    LogRow,
    LogScores,
    SnapshotChoice,
    hammerbench_rouge_l,
    parse_reply,
    score_conversations,
    score_rows,
    score_snapshot,
    score_turns,
)
from tests.conformance.comparing import (
    Case,
    Difference,
    Run,
    UnknownCaseError,
    compare,
    compare_crash,
    require_keys,
)

BY_RULE = {
    "Rejection rate": "rejection_rate",
    "PN_FP": "pn_hr",
    "PN_FN": "pn_mr",
    "Func_Acc": "func_acc",
    "Args_Acc": "args_acc",
    "PR": "pr",
    "SR": "sr",
}
BY_JUDGE = {"Args_Acc LLM": "args_acc", "PR LLM": "pr", "SR LLM": "sr"}
FLAT = {
    "Rejection rate": "rejection_rate",
    "Output string ratio": "string_ratio",
    "Average number of parameter hallucinations": "mean_hallucinated",
    "Average number of missing parameters": "mean_missing",
    "Func_Acc": "func_acc",
    "PN_FP": "pn_hr",
    "PN_FN": "pn_mr",
    "Args_Acc": "args_acc",
}
MODES: dict[str, SnapshotChoice] = {"all": "all", "0": "first", "-1": "last"}
CALCULATED = "names_equal_label (FN_PN gate)"


def run_sample(case: Case, _folder: Path) -> list[Difference]:
    """One reply and its label."""
    require_keys(case, {"inputs", "official", "language", "parser"})
    require_keys(case["inputs"], {"predict", "label"})
    row = LogRow(case["inputs"]["predict"], case["inputs"]["label"])
    result = score_snapshot(row, case["language"], case["parser"])
    official = {
        figure: value for figure, value in case["official"].items() if figure != "note_missing"
    }
    if "crash" in official:
        is_failure = not (result.tool_right and result.arguments_right) and bool(result.problem)
        return compare_crash(official["crash"], {"missing": result.missing}, is_failure=is_failure)
    parsed = parse_reply(row.predict, case["parser"])
    ours = {
        "parsed_calls": None if parsed.calls is None else [list(call) for call in parsed.calls],
        "parse_error": bool(parsed.problem),
        "prediction_stays_string": not parsed.calls,
        "func_correct": result.tool_right,
        "args_match": result.arguments_right,
        "hallucinated_names": result.hallucinated,
        "missing_names": result.missing,
        "rejection": result.refused,
        CALCULATED: result.names_right,
    }
    if "parse_error" in official:
        official["parse_error"] = bool(official["parse_error"])
    return compare(official, ours)


def run_flat(case: Case, _folder: Path) -> list[Difference]:
    """Rows as the newest release scores them; it crashes on every Chinese run and on every reply
    it can't parse.
    """
    require_keys(case, {"inputs", "official", "language"})
    scores = score_rows(logs.parse_rows(case["inputs"], case["id"]), language=case["language"])
    ours = _figures(scores, FLAT)
    official = case["official"]
    if "crash" in official:
        return compare_crash(
            official["crash"], ours, is_failure=bool(scores.problems) or case["language"] == "zh"
        )
    return compare(official, ours)


def run_conversations(case: Case, _folder: Path) -> list[Difference]:
    """Conversations as the paper's code scores them."""
    require_keys(case, {"inputs", "official"})
    inputs = case["inputs"]
    require_keys(inputs, {"conversations", "mode", "judge", "snapshot_id"})
    mode = str(inputs.get("mode", "all"))
    choice = inputs["snapshot_id"] if mode == "mid" and "snapshot_id" in inputs else _choice(mode)
    conversations = logs.parse_conversations(inputs["conversations"], case["id"])
    return _compare_log(case["official"], conversations, inputs.get("judge"), choice)


def run_turns(case: Case, _folder: Path) -> list[Difference]:
    """The progress of one conversation, from its flags."""
    require_keys(case, {"inputs", "official"})
    require_keys(case["inputs"], {"turn_flags", "func_acc_first"})
    result = score_turns(case["inputs"]["turn_flags"], func_right=case["inputs"]["func_acc_first"])
    ours = {
        "idx": -1 if result.first_wrong is None else result.first_wrong,
        "PR": result.progress,
        "SR": result.success,
        "args_correct": result.right,
    }
    return compare(case["official"], ours)


def run_rouge(case: Case, _folder: Path) -> list[Difference]:
    """Rouge-L of two values, in both languages' forms."""
    require_keys(case, {"inputs", "official_f_en", "official_f_zh"})
    require_keys(case["inputs"], {"reference", "hypothesis"})
    reference, hypothesis = case["inputs"]["reference"], case["inputs"]["hypothesis"]
    ours = {
        "official_f_en": hammerbench_rouge_l(reference, hypothesis, "en"),
        "official_f_zh": hammerbench_rouge_l(reference, hypothesis, "zh"),
    }
    return compare({figure: case[figure] for figure in ours if figure in case}, ours)


def run_log(case: Case, folder: Path) -> list[Difference]:
    """A log of GPT-4o that the paper's tables come from; its path is relative to the folder
    above the cases.
    """
    require_keys(case, {"log", "mode", "official"})
    log = folder.parent / case["log"]
    mode, conversations = str(case["mode"]), logs.read_log(log).conversations
    choice = (
        logs.read_snapshot_choice(logs.snapshot_file(log), log, conversations)
        if mode == "mid"
        else _choice(mode)
    )
    return _compare_log(case["official"], conversations, logs.read_flags(log), choice)


def _compare_log(
    official: Case,
    conversations: list[Conversation],
    flags: list[list[bool]] | None,
    choice: SnapshotChoice,
) -> list[Difference]:
    by_rule = score_conversations(conversations, choice=choice)
    ours = _figures(by_rule, BY_RULE)
    if flags is not None:
        ours |= _figures(score_conversations(conversations, choice=choice, flags=flags), BY_JUDGE)
    if "crash" in official:
        return compare_crash(official["crash"], ours, is_failure=bool(by_rule.problems))
    return compare(official, ours)


def _choice(mode: str) -> SnapshotChoice:
    if mode not in MODES:
        raise UnknownCaseError(
            f"the mode {mode!r} is not one of {sorted(MODES)} or 'mid' with its list of snapshots"
        )
    return MODES[mode]


def _figures(scores: LogScores | FlatScores, names: dict[str, str]) -> dict[str, Any]:
    return {official: getattr(scores, ours) for official, ours in names.items()}


GROUPS: dict[str, Run] = {
    "per_sample": run_sample,
    "head_aggregate": run_flat,
    "multi_snapshot": run_conversations,
    "calculate_turn": run_turns,
    "rouge_l": run_rouge,
    "paper_gpt4o_reproduction": run_log,
}
