"""Run where bfcl-eval is installed: its decoder and its checker over an export, gold and broken
calls; print counts.
"""

import ast
import copy
import json
import sys
import types
from collections import Counter
from pathlib import Path

config = types.ModuleType(
    "bfcl_eval.constants.model_config"
)  # the real one imports the packages of every vendor


class _AnyModel(dict):
    def __missing__(self, name):
        return types.SimpleNamespace(underscore_to_dot=False)


config.MODEL_CONFIG_MAPPING = _AnyModel()
sys.modules["bfcl_eval.constants.model_config"] = config

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import resolve_ast_call  # noqa: E402


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def decode(text):
    return [resolve_ast_call(one) for one in ast.parse(text, mode="eval").body.elts]


def gold(answer):
    [(name, accepted)] = answer.items()
    return name, {key: plain(values[0]) for key, values in accepted.items() if values != [""]}


def plain(value):
    if isinstance(value, dict):
        return {name: members[0] for name, members in value.items()}
    return (
        [plain(one) if isinstance(one, dict) else one for one in value]
        if isinstance(value, list)
        else value
    )


def is_accepted(question, calls, truth, category):
    return ast_checker(question["function"], calls, truth, Language.PYTHON, category, "any")[
        "valid"
    ]


def written(calls):
    """Calls as a model would write them."""
    texts = [
        f"{name}({', '.join(f'{key}={value!r}' for key, value in made.items())})"
        for name, made in calls
    ]
    return f"[{', '.join(texts)}]"


def broken(calls):
    (name, made), *rest = (next(iter(call.items())) for call in calls)
    others = [{other: arguments} for other, arguments in rest]
    yield [{f"{name}x": made}, *others]
    yield [{name: made | {"strange_one": 1}}, *others]
    yield [*calls, calls[0]]


counted = Counter()
for path in sorted(Path(sys.argv[1]).rglob("BFCL_v4_*.json")):
    if path.parent.name == "possible_answer":
        continue
    category, questions = path.stem.removeprefix("BFCL_v4_"), lines(path)
    assert questions, path
    counted[f"{category} questions"] += len(questions)
    answers = path.parent / "possible_answer" / path.name
    for question, answer in zip(questions, lines(answers), strict=True) if answers.exists() else ():
        truth = answer["ground_truth"]
        calls = [gold(one) for one in truth]
        decoded = decode(written(calls))
        assert question["id"] == answer["id"]
        assert decoded == [{name: made} for name, made in calls]
        verdict = (
            "accepted"
            if is_accepted(question, copy.deepcopy(decoded), truth, category)
            else "refused"
        )
        counted[f"{category} gold {verdict}"] += 1
        for other in broken(decoded):
            verdict = (
                "accepted"
                if is_accepted(question, copy.deepcopy(other), truth, category)
                else "refused"
            )
            counted[f"broken {verdict}"] += 1
print(json.dumps(counted))
