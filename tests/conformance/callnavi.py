"""The cases of CallNavi's evaluators: washing, matching, routing, structured outputs, stability,
whole-data runs.
"""

import math
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from callwright.validators.metrics.callnavi.answers import (
    DIFFICULTIES,
    GoldAnswer,
    Shares,
    is_routed,
    match_answer,
    measure_stability,
    names_text,
    read_questions,
    score_answer,
    settled,
    summarise,
    wash,
    wash_text,
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

PUNCTUATION = str.maketrans("", "", string.punctuation + string.whitespace)
Transform = Callable[[GoldAnswer], dict[str, Any]]


def run_washing(case: Case, _folder: Path) -> list[Difference]:
    """What is left of a text, and whether it is JSON before any repair."""
    require_keys(case, {"inputs", "official"})
    text = case["inputs"]
    washed = wash(text, repair=False)
    if "raises" in case["official"]:
        return compare_crash(case["official"]["raises"], {}, is_failure=not washed.valid)
    ours = {
        "text_after_replace": wash_text(text),
        "json_valid_without_llm": washed.valid,
        "parsed": _told(washed.value) if washed.valid else None,
    }
    return compare(case["official"], ours)


def run_match(case: Case, _folder: Path) -> list[Difference]:
    """An answer against the gold one."""
    require_keys(case, {"inputs", "official"})
    inputs, official = case["inputs"], case["official"]
    require_keys(inputs, {"predict", "ground_truth", "difficulty"})
    gold = inputs["ground_truth"]
    match = match_answer(inputs["predict"], GoldAnswer(gold["API"], gold["parameters"]))
    if "raises" in official:
        failed = bool(match.problem) and not (match.order or match.structure or match.ast)
        return compare_crash(official["raises"], {}, is_failure=failed)
    return compare(official, {"order": match.order, "structure": match.structure, "ast": match.ast})


def run_routing(case: Case, _folder: Path) -> list[Difference]:
    """Names only, compared as texts."""
    require_keys(case, {"inputs", "official"})
    inputs, official = case["inputs"], case["official"]
    require_keys(inputs, {"predict", "ground_truth_api_list"})
    gold = inputs["ground_truth_api_list"]
    matches = is_routed(inputs["predict"], gold)
    if "raises" in official:
        return compare_crash(official["raises"], {}, is_failure=not matches)
    ours = {
        "pred_norm": names_text(inputs["predict"]),
        "gt_norm": names_text(gold),
        "match": matches,
    }
    return compare(official, ours)


def run_structured(case: Case, _folder: Path) -> list[Difference]:
    """Two structured outputs, loosely compared."""
    require_keys(case, {"inputs", "official"})
    require_keys(case["inputs"], {"a", "b"})
    made, gold = case["inputs"]["a"], case["inputs"]["b"]
    matches = is_same_output(bare(made), bare(gold))
    if "raises" in case["official"]:
        return compare_crash(case["official"]["raises"], {}, is_failure=not matches)
    return compare(case["official"], {"match": matches, "norm_a": bare(made), "norm_b": bare(gold)})


def is_same_output(made: Any, gold: Any) -> bool:
    """Whether two outputs, as `bare` makes them, say the same: lists in any order."""
    if isinstance(made, dict) and isinstance(gold, dict):
        return made.keys() == gold.keys() and all(
            is_same_output(value, gold[name]) for name, value in made.items()
        )
    if not isinstance(made, list) or not isinstance(gold, list):
        return bool(made == gold)
    left = list(gold)
    for value in made:
        at = next((place for place, other in enumerate(left) if is_same_output(value, other)), None)
        if at is None:
            return False
        del left[at]
    return not left


def bare(value: Any) -> Any:
    """The value with all names and texts in capitals, without punctuation and space."""
    if isinstance(value, dict):
        return {bare(name): bare(member) for name, member in value.items()}
    if isinstance(value, list):
        return [bare(member) for member in value]
    return value.translate(PUNCTUATION).upper() if isinstance(value, str) else value


def run_stability(case: Case, _folder: Path) -> list[Difference]:
    """Both stability scores of several answers, and what they are compared as."""
    require_keys(case, {"inputs", "normalised", "expected", "paper_value"})
    scores = measure_stability(case["inputs"])
    ours: dict[str, Any] = {
        "normalised": [settled(answer) for answer in case["inputs"]],
        **scores._asdict(),
    }
    official: dict[str, Any] = {"normalised": case["normalised"], **case["expected"]}
    if case["paper_value"] is not None:
        official["paper_value"], ours["paper_value"] = case["paper_value"], scores.election
    differences = compare(official, ours)
    rounded = [one for one in differences if one.figure == "paper_value" and _is_rounded(*one[1:])]
    return [one for one in differences if one not in rounded]


def run_whole(case: Case, folder: Path) -> list[Difference]:
    """All questions, answered by a change of their gold answers."""
    require_keys(case, {"transform", "questions", "official"})
    transform = TRANSFORMS.get(case["transform"])
    if (
        transform is None
    ):  # a text that says what to do: one that we can't follow is no reason to run no other case
        return [Difference("transform", case["transform"], f"one of {sorted(TRANSFORMS)}")]
    questions = read_questions((folder / case["questions"]).parent)
    scores = [score_answer(question, transform(question.gold)) for question in questions]
    shares = summarise(scores)
    asked = {
        name: sum(question.difficulty == name for question in questions) for name in DIFFICULTIES
    }
    ours = {"n": asked, **{name: _figures(one) for name, one in shares.items()}}
    return _compare_deep(case["official"], ours, "")


def _compare_deep(
    official: Mapping[str, Any], ours: Mapping[str, Any], path: str
) -> list[Difference]:
    differences = []
    for name, wanted in official.items():
        if name not in ours:
            raise UnknownCaseError(f"the official result has the unknown figure {path + name!r}")
        if isinstance(wanted, dict):
            differences += _compare_deep(wanted, ours[name], f"{path}{name} ")
        else:
            differences += [
                one._replace(figure=path + name)
                for one in compare({name: wanted}, {name: ours[name]})
            ]
    return differences


def _figures(shares: Shares) -> dict[str, Any]:
    return {**shares._asdict(), "counts": dict(shares.counts)}


def _told(value: Any) -> Any:
    """A value as the cases tell it: numbers that JSON has no sign for are named."""
    if isinstance(value, dict):
        return {name: _told(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_told(member) for member in value]
    if isinstance(value, float) and not math.isfinite(value):
        return f"<float {'NaN' if math.isnan(value) else 'Infinity' if value > 0 else '-Infinity'}>"
    return value


def _is_rounded(official: Any, ours: Any) -> bool:
    """Whether the paper's figure is ours, to the digits that it prints after the point."""
    digits = len(str(official).partition(".")[2])
    return digits > 0 and bool(abs(official - ours) <= 0.5 * 10**-digits)


def _changed(gold: GoldAnswer, change: Callable[[Any], Any]) -> dict[str, Any]:
    parameters = [{name: change(value) for name, value in one.items()} for one in gold.parameters]
    return {"API": list(gold.names), "parameters": parameters}


TRANSFORMS: dict[str, Transform] = {
    "predict = ground_truth": lambda gold: _changed(gold, lambda value: value),
    "every value v that is no string becomes Python str(v)": lambda gold: _changed(
        gold, lambda value: value if isinstance(value, str) else str(value)
    ),
    "API and parameters both reversed": lambda gold: {
        "API": gold.names[::-1],
        "parameters": gold.parameters[::-1],
    },
    'every parameter value becomes "$$$"': lambda gold: _changed(gold, lambda _: "$$$"),
}
GROUPS: dict[str, Run] = {
    "wash_syntax": run_washing,
    "ast_match": run_match,
    "routing": run_routing,
    "structured_output_compare": run_structured,
    "stability_paper_formula": run_stability,
    "aggregate": run_whole,
}
