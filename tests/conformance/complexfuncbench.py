"""The cases of ComplexFuncBench's evaluator: its parts one by one, whole runs, and what it
prints of results.
"""

import ast
import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from callwright.validators.metrics.complexeval.calls import CandidateCall, check_format, sorted_call
from callwright.validators.metrics.complexeval.results import parse_results, summarise
from callwright.validators.metrics.complexeval.rules import Mistake, RunRules
from callwright.validators.metrics.complexeval.runs import (
    FreeCalls,
    MatchedCall,
    SampleRun,
    Setting,
    TurnResult,
    check_values,
    compare_turn,
    describe_difference,
    map_calls,
    match_by_rule,
)
from callwright.warehouse.records import Call
from tests.conformance.comparing import (
    Case,
    Difference,
    Run,
    UnknownCaseError,
    compare,
    compare_crash,
    require_keys,
)
from tests.conformance.complexfuncbench_stubs import (
    call_of,
    chain_of,
    decode_json,
    golden_of,
    likeness,
    matchers_of,
    shown,
    tool_of,
)

MATERIALS = frozenset(
    {
        "embedding_stub",
        "api_stub",
        "judge_stub",
        "functions",
        "free_function_list",
        "final_cleanup_list",
        "unexpected_call_response",
        "exact_match_values",
    }
)
MODE = "as_published_code"
PRINTED = {
    "Domain Success Rate": ("domains", "success"),
    "Domain Call Accuracy": ("domains", "call_acc"),
    "Overall Success Rate": ("overall", "success"),
    "Overall Call Accuracy": ("overall", "call_acc"),
    "Complete Score": ("answers", "completeness"),
    "Correct Score": ("answers", "correctness"),
}


class Cases:
    """The runners of the groups, with the functions and tables that the file brings."""

    def __init__(self, materials: Mapping[str, Any]) -> None:
        self._tools = {one["name"]: tool_of(one) for one in materials.get("functions", [])}
        self._rules = RunRules(
            free=frozenset(materials.get("free_function_list", [])),
            dropped=frozenset(materials.get("final_cleanup_list", [])),
            exact=materials.get("exact_match_values", {}),
        )

    def groups(self) -> dict[str, Run]:
        return {name: partial(_run_guarded, run) for name, run in self._runs().items()}

    def _runs(self) -> dict[str, Run]:
        return {
            "format_check": self.run_format,
            "rule_based": self.run_rule,
            "value_checker": self.run_values,
            "get_error_message": self.run_difference,
            "decode_json": self.run_decoding,
            "mapping_call": self.run_mapping,
            "compare_turn": self.run_turn,
            "run": self.run_whole,
            "print_results": self.run_results,
        }

    def run_format(self, case: Case, _folder: Path) -> list[Difference]:
        """The format check of one call."""
        require_keys(case, {"inputs", "official"})
        require_keys(case["inputs"], {"call"})
        mistake = check_format(call_of(case["inputs"]["call"]), self._tools, MODE)
        return _compare_one(
            case["official"], True if mistake is None else {"format_error": mistake.kind}, mistake
        )

    def run_rule(self, case: Case, _folder: Path) -> list[Difference]:
        """Whether two calls match by rule."""
        made, golden = _two_calls(case)
        ours = match_by_rule(made, golden, self._rules.unordered)
        return _compare_one(case["official"], ours, not ours)

    def run_values(self, case: Case, _folder: Path) -> list[Difference]:
        """The values that must be equal."""
        mistake = check_values(*_two_calls(case), self._rules.exact)
        return _compare_one(
            case["official"], [True, ""] if mistake is None else [False, _stated(mistake)], mistake
        )

    def run_difference(self, case: Case, _folder: Path) -> list[Difference]:
        """What is said to be wrong."""
        mistake = describe_difference(*_two_calls(case))
        return _compare_one(case["official"], _stated(mistake), mistake)

    def run_decoding(self, case: Case, _folder: Path) -> list[Difference]:
        """What a judge's reply is read as."""
        require_keys(case, {"inputs", "official"})
        value = decode_json(case["inputs"])
        return _compare_one(case["official"], value, value is None)

    def run_mapping(self, case: Case, _folder: Path) -> list[Difference]:
        """Which calls are held against which."""
        require_keys(case, {"inputs", "official"})
        inputs = case["inputs"]
        require_keys(
            inputs, {"predict", "golden", "golden_obs", "gold_conversation_for_free_functions"}
        )
        made = [sorted_call(call_of(one)) for one in inputs["predict"]]
        free = self._free(inputs)
        pairs = map_calls(list(enumerate(made)), golden_of(inputs), likeness, free)
        official = case["official"]
        if "raises" in official:
            return compare_crash(
                official["raises"], {}, is_failure=not (pairs and inputs["golden"])
            )
        ours = {
            "matches": [
                {
                    "idx": pair.at,
                    "pred_call": shown(made[pair.at]),
                    "golden_call": shown(pair.golden.call),
                    "golden_obs": pair.golden.response,
                }
                for pair in pairs
            ],
            "free_called": list(free.made),
        }
        by_place = sorted(official["matches"], key=lambda match: match["idx"])
        return compare({**official, "matches": by_place}, ours)

    def run_turn(self, case: Case, _folder: Path) -> list[Difference]:
        """The calls of one turn, judged."""
        require_keys(case, {"inputs", "official"})
        inputs, official = case["inputs"], case["official"]
        known = {"predict", "golden", "golden_obs", "gold_conversation_for_free_functions"}
        require_keys(inputs, known | {"llm_judge_stub", "api_response_stub"})
        setting = Setting(MODE, self._tools, matchers_of(inputs), self._rules)
        made = [call_of(one) for one in inputs["predict"]]
        result = asyncio.run(compare_turn(made, golden_of(inputs), setting, self._free(inputs)))
        if "raises" in official:
            return compare_crash(official["raises"], {}, is_failure=bool(result.crash))
        matched = {
            "success_matched": _in_any_order(official["success_matched"])
        }  # calls of one turn have no order
        return compare({**official, **matched}, _turn_figures(result, official))

    def run_whole(self, case: Case, _folder: Path) -> list[Difference]:
        """A whole run, driven by a script of what the model says."""
        require_keys(case, {"inputs", "official"})
        inputs, official = case["inputs"], case["official"]
        require_keys(
            inputs,
            {"gold_conversation", "model_script", "runner", "llm_judge_stub", "api_response_stub"},
        )
        run = SampleRun(
            chain_of(inputs["gold_conversation"]),
            self._tools.values(),
            MODE,
            matchers_of(inputs),
            self._rules._replace(runner=inputs["runner"]),
        )
        observations = asyncio.run(_drive(run, inputs["model_script"]))
        outcome = run.outcome
        assert outcome is not None
        if "raises" in official:
            return compare_crash(official["raises"], {}, is_failure=not outcome.success)
        listed = [_stated(one) for one in outcome.mistakes]
        ours = {
            "message": _stated(outcome.problem) if outcome.problem else listed or outcome.message,
            "success_turn_num": outcome.success_turns,
            "correct_call_num": outcome.correct_calls,
            "total_turn_num": outcome.total_turns,
            "total_call_num": outcome.total_calls,
            "real_turn_num": outcome.real_turns,
            "observations": observations,
            "remaining_golden": [shown(call) for call in outcome.remaining],
            "turn_id": outcome.last_step,
        }
        return compare(official, ours)

    def run_results(self, case: Case, _folder: Path) -> list[Difference]:
        """The figures over a file of results, read off what was printed."""
        require_keys(case, {"inputs", "official_stdout"})
        summary = summarise(parse_results(case["inputs"], case["id"]), MODE)
        printed = dict(line.split(": ", 1) for line in case["official_stdout"].splitlines() if line)
        unknown = set(printed) - set(PRINTED)
        if unknown:
            raise UnknownCaseError(f"the official output has the unknown lines {sorted(unknown)}")
        ours = {
            "overall success": summary.overall.success * 100,
            "overall call_acc": summary.overall.call_acc * 100,
            "answers completeness": summary.completeness,
            "answers correctness": summary.correctness,
        }
        ours |= {
            f"{name} call_acc": domain.call_acc * 100 for name, domain in summary.domains.items()
        }
        ours |= {
            f"{name} success": one.success * 100
            for name, one in summary.domains.items()
            if one.succeeded
        }
        return _compare_figures(dict(_printed_figures(printed)), ours)

    def _free(self, inputs: Case) -> FreeCalls:
        conversation = inputs["gold_conversation_for_free_functions"]
        return FreeCalls(chain_of(conversation), self._rules.free) if conversation else FreeCalls()


async def _drive(run: SampleRun, script: Sequence[Any]) -> list[list[Any]]:
    """Play the script to its end or the run's; what the model was told in each turn after which
    it went on.
    """
    observations = []
    for said in [*script, None]:
        if run.outcome is not None:
            break
        if said and said.get("calls"):
            judged = await run.take(
                [CandidateCall(one["name"], one["arguments"]) for one in said["calls"]]
            )
            if run.outcome is None:
                observations.append([_observation(one) for one in judged])
        else:
            await run.finish(said.get("content") if said else None)
    return observations


def _observation(judged: MatchedCall) -> Any:
    if judged.matched:
        return judged.observation
    if judged.mistake is not None and judged.mistake.is_format_error:
        return {"format_error": judged.mistake.kind}
    return {"unexpected_call": True}


def _turn_figures(result: TurnResult, official: Case) -> dict[str, Any]:
    errors: Any = [_stated(mistake) for mistake in result.errors]
    if (
        isinstance(official.get("error_message"), str)
        and result.errors
        and result.errors[0].kind == "empty_response"
    ):
        errors = official["error_message"]  # a text of theirs, which we need not write
    return {
        "error_message": errors,
        "success_map": {
            str(at): one.observation for at, one in enumerate(result.calls) if one.matched
        },
        "success_matched": _in_any_order([shown(one.call) for one in result.matched]),
        "format_error": {
            str(at): {"format_error": one.mistake.kind}
            for at, one in enumerate(result.calls)
            if one.mistake is not None and one.mistake.is_format_error
        },
    }


def _in_any_order(shown: Sequence[Any]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in shown)


def _printed_figures(printed: Mapping[str, str]) -> list[tuple[str, float]]:
    figures = []
    for line, text in printed.items():
        level, metric = PRINTED[line]
        value = ast.literal_eval(text)
        named = value if level == "domains" else {level: value}
        figures += [(f"{name} {metric}", figure) for name, figure in named.items()]
    return figures


def _compare_figures(official: dict[str, float], ours: dict[str, Any]) -> list[Difference]:
    beyond = set(ours) - set(official)
    return compare(official, ours) + [
        Difference(figure, None, ours[figure]) for figure in sorted(beyond)
    ]


def _compare_one(official: Any, ours: Any, is_failure: Any) -> list[Difference]:
    if isinstance(official, dict) and "raises" in official:
        return compare_crash(official["raises"], {}, is_failure=bool(is_failure))
    return compare({"result": official}, {"result": ours})


def _run_guarded(run: Run, case: Case, folder: Path) -> list[Difference]:
    """Run a case; calls that are none at all are a failure to us, as a crash is officially."""
    try:
        return run(case, folder)
    except ValidationError as error:
        official = case["official"]
        crash = official.get("raises") if isinstance(official, dict) else None
        return [] if crash else [Difference("calls", official, str(error))]


def _two_calls(case: Case) -> tuple[Call, Call]:
    require_keys(case, {"inputs", "official"})
    require_keys(case["inputs"], {"predict", "golden"})
    return call_of(case["inputs"]["predict"]), call_of(case["inputs"]["golden"])


def _stated(mistake: Mistake) -> dict[str, Any]:
    stated = {"error_type": mistake.kind}
    return stated | {"parameter": mistake.parameter} if mistake.parameter else stated
