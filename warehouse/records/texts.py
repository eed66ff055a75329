"""Facts as the texts "name=value" that samples of earlier versions hold, and that keys are made of.

A key must stay what it was when a sample was first stored: reviews, releases and seeds refer to it.
"""

import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import Any

import orjson

_PLACE = re.compile(r"(\d+)\.(\d+)")
_ASKED = re.compile(r"(\d+)\.(\d+) (.*)", re.DOTALL)
_SPOKEN = re.compile(r"(\d+):(.+)", re.DOTALL)
_PLAIN = frozenset(
    {"complexity", "difficulty", "environment", "template", "reference_time", "persona", "style"}
)
_SPOKEN_FIELDS = {"goal": "goals", "extra": "extras"}
_PAPERS = {
    "callnavi_id": "callnavi",
    "complexfuncbench_id": "complexfuncbench",
    "confetti_dialogue": "confetti",
    "hammerbench_id": "hammerbench",
}


def read_facts(texts: Iterable[object]) -> dict[str, Any]:
    """The fields of `SampleFacts` that these texts state; what states none of them is a label."""
    found: dict[str, Any] = {}
    for text in map(str, texts):
        name, _, value = text.partition("=")
        try:
            _add(found, name, value)
        except (ValueError, TypeError, KeyError):
            found.setdefault("labels", []).append(text)
    return found


def _add(found: dict[str, Any], name: str, value: str) -> None:
    """Add what one text states; ValueError, TypeError or KeyError where it states no fact."""
    if name in _PLAIN:
        found.setdefault(name, value)
    elif name == "simulation":
        found.setdefault(name, int(value))
    elif name == "shift":
        found.setdefault("shifts", []).append(int(value))
    elif name == "user":
        found[name] = tuple(map(int, value.split("/", 1)))
    elif name == "wanted":
        found.setdefault(name, _PLACE.findall(value))
    elif name == "asked":
        found.setdefault(name, []).append(_matched(_ASKED, value))
    elif name in _SPOKEN_FIELDS:
        found.setdefault(_SPOKEN_FIELDS[name], []).append(_matched(_SPOKEN, value))
    elif name == "hammerbench_label":
        call = orjson.loads(value)
        label = {"tool": call["name"], "arguments": call["arguments"]}
        found.setdefault("hammerbench_labels", []).append(label)
    else:
        found.setdefault("paper_id", (_PAPERS[name], orjson.loads(value)))


def _matched(pattern: re.Pattern[str], value: str) -> tuple[str, ...]:
    found = pattern.fullmatch(value)
    if found is None:
        raise ValueError(value)
    return found.groups()


def write_facts(facts: Mapping[str, Any]) -> list[str]:
    """The texts of the fields of `SampleFacts`, in the order in which makers first wrote them."""
    spoken = [
        (one.turn, (name, f"{one.turn}:{one.words}"))
        for name, field in _SPOKEN_FIELDS.items()
        for one in facts[field]
    ]
    names, paper, user = {v: k for k, v in _PAPERS.items()}, facts["paper_id"], facts["user"]
    stated = [
        ("complexity", facts["complexity"]),
        ("difficulty", facts["difficulty"]),
        *([(names[paper.paper], orjson.dumps(paper.id).decode())] if paper else []),
        *(("hammerbench_label", _label(one)) for one in facts["hammerbench_labels"]),
        ("environment", facts["environment"]),
        ("template", facts["template"]),
        ("reference_time", facts["reference_time"]),
        *(text for _, text in sorted(spoken, key=itemgetter(0))),
        ("simulation", facts["simulation"]),
        ("wanted", " ".join(f"{step}.{place}" for step, place in facts["wanted"])),
        *(("asked", f"{one.step}.{one.place} {one.path}") for one in facts["asked"]),
        ("user", f"{user.wordings}/{user.refused}" if user else ""),
        *(("shift", number) for number in facts["shifts"]),
        ("persona", facts["persona"]),
        ("style", facts["style"]),
    ]
    texts = [f"{name}={value}" for name, value in stated if value not in ("", None)]
    return [*texts, *facts["labels"]]


def _label(call: Any) -> str:  # noqa: ANN401 - a Call, which is made of facts that are read here
    return orjson.dumps({"name": call.tool, "arguments": call.arguments}).decode()
