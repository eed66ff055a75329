"""Facts and rules as the texts that samples of earlier versions hold, and that keys are made of.

A key must stay what it was when a sample was first stored: reviews, releases and seeds refer to it.
"""

import json
import re
from collections.abc import Iterable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from callwright.warehouse.records.samples import Condition, EntryRule

_PLACE = re.compile(r"(\d+)\.(\d+)")
_ASKED = re.compile(r"(\d+)\.(\d+) (.*)", re.DOTALL)
_SPOKEN = re.compile(r"(\d+):(.+)", re.DOTALL)
_PLAIN = frozenset(
    ["complexity", "difficulty", "environment", "template", "reference_time", "persona", "style"]
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
        wordings, refused = value.split("/")
        found[name] = int(wordings), int(refused)
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


_BARE = re.compile(r'[^\s":;]+')
_PATH = rf'"(?:[^"\\]|\\.)*"|{_BARE.pattern}'
_FEED = re.compile(r"calls\[(\d+)\]\.returns\.(.+)")
_ENTRY = re.compile(rf"({_PATH}) of ({_PATH})")
_ONLY = "only entry"
_CONDITION = re.compile(
    rf"(?P<later>-?\d+) minutes later|(?P<only>{_ONLY})"
    rf"|(?P<field>{_PATH}) (?P<compares>equals|contains) "
    rf"|(?P<ranks>earliest|highest|latest|lowest) (?P<by>{_PATH})"
)


def read_rule(text: str) -> dict[str, Any] | str:
    """The fields of the rule that a text states; the text itself where it names a rule."""
    if feed := _FEED.fullmatch(text):
        return {"kind": "feed", "call": feed[1], "field": feed[2]}
    try:
        return _read_entry_rule(text)
    except ValueError:
        return text


def _read_entry_rule(text: str) -> dict[str, Any]:
    """The fields of an `EntryRule`; ValueError where the text states none."""
    start = _ENTRY.match(text)
    if start is None:
        raise ValueError(text)
    where: list[dict[str, Any]] = []
    rule: dict[str, Any] = {"kind": "entry", "where": where}
    rule["field"], rule["entries"] = map(_read_path, start.groups())
    at = start.end()
    while at < len(text):
        joint = "; " if where else ": "
        found = _CONDITION.match(text, at + 2) if text.startswith(joint, at) else None
        if found is None or "later_by" in rule:
            raise ValueError(text)
        at = found.end()
        if found["later"]:
            rule["later_by"] = found["later"]
        elif found["only"]:
            where.append({"test": "only"})
        elif found["ranks"]:
            where.append({"test": found["ranks"], "field": _read_path(found["by"])})
        else:
            value, at = json.JSONDecoder().raw_decode(text, at)
            field = _read_path(found["field"])
            where.append({"test": found["compares"], "field": field, "value": value})
    return rule


def write_feed_rule(call: int, field: str) -> str:
    """The text of a rule that a call before feeds a value."""
    return f"calls[{call}].returns.{field}"


def write_entry_rule(rule: "EntryRule") -> str:
    """The text of a rule that tells an entry; people can read it."""
    parts = [*map(_write_condition, rule.where)]
    parts += [f"{rule.later_by} minutes later"] if rule.later_by else []
    start = f"{_write_path(rule.field)} of {_write_path(rule.entries)}"
    return f"{start}: {'; '.join(parts)}" if parts else start


def _write_condition(condition: "Condition") -> str:
    if condition.test == "only":
        return _ONLY
    path = _write_path(condition.field)
    if condition.test in ("equals", "contains"):
        return f"{path} {condition.test} {json.dumps(condition.value, ensure_ascii=False)}"
    return f"{condition.test} {path}"


def _write_path(path: str) -> str:
    return path if _BARE.fullmatch(path) else json.dumps(path, ensure_ascii=False)


def _read_path(written: str) -> str:
    return str(json.loads(written)) if written.startswith('"') else written
