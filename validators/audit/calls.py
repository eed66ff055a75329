"""Defects of which calls are due, in what order, and of the tools that a sample shows."""

from itertools import pairwise
from random import Random
from typing import Any

from pydantic import JsonValue

from callwright.validators.audit.editing import Replacement as Words
from callwright.validators.audit.editing import kept_turns, rebuilt, with_turn, with_words
from callwright.validators.audit.subjects import AuditSubject, BrokenSample, Injector, pick
from callwright.warehouse.records import CallTurn, GoldCall, JsonSchema, ResultTurn, Sample

_UNKNOWN = "$$$"
_OTHER_TYPES = {"string": "integer", "integer": "boolean", "number": "boolean", "boolean": "string"}


def _step_dropped(subject: AuditSubject, rng: Random) -> Sample | None:
    """All calls of a step and what they returned, where no later call takes a value from there."""
    used = {one.turn for _, turn in subject.call_turns for call in turn.calls for one in call.evidence if one.path}
    steps = [at for at, turn in subject.call_turns if turn.executed and at + 1 not in used]
    if len(subject.call_turns) < 2:  # noqa: PLR2004 - one of several
        return None
    at = pick(steps, rng)
    return rebuilt(subject.sample, [one for one in kept_turns(subject.sample) if one.old not in (at, at + 1)])


def _call_where_none_is_due(subject: AuditSubject, rng: Random) -> Sample | None:
    """No candidate fits, and yet one is called."""
    idle = [at for at, turn in enumerate(subject.sample.turns) if isinstance(turn, CallTurn) and not turn.calls]
    at = pick(idle, rng)
    return _with_one_more(subject, at, set(), rng)


def _with_one_more(subject: AuditSubject, at: int, without: set[str], rng: Random) -> Sample | None:
    turn = subject.sample.turns[at]
    if not isinstance(turn, CallTurn):
        return None
    if turn.executed:
        made = [
            one for name in subject.candidates if name not in without for one in subject.pool.executed.get(name, [])
        ]
        return _with_executed(subject, at, *pick(made, rng))
    language = subject.sample.language
    calls = [
        call
        for name in subject.candidates
        if name not in without
        for call in subject.pool.calls.get((language, name), [])
    ]
    call = pick(calls, rng)
    return with_turn(subject.sample, at, turn.with_changes(calls=(*turn.calls, call.with_changes(evidence=()))))


def _with_executed(subject: AuditSubject, at: int, call: GoldCall, result: JsonValue) -> Sample | None:
    turn, following = subject.sample.turns[at], subject.sample.turns[at + 1]
    if not isinstance(turn, CallTurn) or not isinstance(following, ResultTurn):
        return None
    sample = with_turn(subject.sample, at, turn.with_changes(calls=(*turn.calls, call.with_changes(evidence=()))))
    return with_turn(sample, at + 1, following.with_changes(results=(*following.results, result)))


def _steps_reordered(subject: AuditSubject, rng: Random) -> Sample | None:
    """A step stands before the one that returns what it takes."""
    options = [
        (first, second)
        for (first, _), (second, turn) in pairwise(subject.call_turns)
        if second == first + 2
        and any(one.turn == first + 1 for call in turn.calls for one in call.evidence if one.path)
    ]
    first, second = pick(options, rng)
    kept = kept_turns(subject.sample)
    return rebuilt(
        subject.sample, [*kept[:first], *kept[second : second + 2], *kept[first:second], *kept[second + 2 :]]
    )


def _tool_missing(subject: AuditSubject, rng: Random) -> Sample | None:
    """The tool that is called is not among the candidates."""
    due = subject.due
    keys = [key for key in subject.sample.candidates if subject.tools[key].name in due]
    if len(subject.sample.candidates) < 2:  # noqa: PLR2004 - another one is left
        return None
    key = pick(keys, rng)
    return subject.sample.with_changes(candidates=tuple(one for one in subject.sample.candidates if one != key))


def _schema_altered(change: str) -> Any:  # noqa: ANN401 - an Injection, made below
    """The schema of the tool that is called is another one: `rename`, `retype` or `narrow` a parameter that has an argument."""

    def inject(subject: AuditSubject, rng: Random) -> BrokenSample | None:
        options = [
            (subject.candidates[call.tool], name)
            for _, turn in subject.call_turns for call in turn.calls if call.tool in subject.candidates
            for name in call.arguments if name in subject.candidates[call.tool].properties
        ]  # fmt: skip
        rng.shuffle(options)
        for tool, name in options:
            properties = _altered(change, tool.properties, name)
            if properties is not None:
                required = [one if one in properties else f"{name}_value" for one in tool.required]
                other = tool.with_changes(
                    parameters={**tool.parameters, "properties": properties, "required": required}
                )
                candidates = tuple(other.key if key == tool.key else key for key in subject.sample.candidates)
                return BrokenSample(subject.sample.with_changes(candidates=candidates), {other.key: other})
        return None

    return inject


def _altered(change: str, properties: dict[str, JsonSchema], name: str) -> dict[str, JsonSchema] | None:
    schema = properties[name]
    match change:
        case "rename":
            return {f"{one}_value" if one == name else one: value for one, value in properties.items()}
        case "retype":
            other = _OTHER_TYPES.get(schema.get("type", ""))
            return {**properties, name: {"type": other}} if other else None
        case _:
            return (
                {**properties, name: {**schema, "enum": ["none of these"]}} if schema.get("type") == "string" else None
            )


def _withheld_shown(subject: AuditSubject, rng: Random) -> Sample | None:
    """No call is due because the tool was withheld, and yet it is among the candidates."""
    sample = subject.sample
    is_idle = any(isinstance(turn, CallTurn) and not turn.calls for turn in sample.turns)
    if not sample.withheld or not is_idle:
        return None
    shown = list(sample.candidates)
    shown[rng.randrange(len(shown))] = sample.withheld[0]
    return sample.with_changes(candidates=tuple(shown), withheld=())


def _served_request(subject: AuditSubject, rng: Random) -> Sample | None:
    """No call is due, but the request is one that a candidate serves."""
    if subject.call_turns or not subject.user_turns:
        return None
    names = subject.candidates.keys()
    served = [text for text, tools in subject.pool.requests.get(subject.sample.language, []) if tools <= names]
    text, (at, turn) = pick(served, rng), subject.user_turns[0]
    return with_words(subject.sample, at, [Words(0, len(turn.text), text)])


def _language_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """The sample is said to be in another language."""
    others = sorted({language for language in subject.pool.requests if language != subject.sample.language})
    other = pick(others, rng)
    return subject.sample.with_changes(language=other)


INJECTORS = (
    Injector("step_dropped", "a step is missing that no later one builds upon", _step_dropped),
    Injector("call_where_none_is_due", "a call stands where no candidate fits", _call_where_none_is_due),
    Injector("steps_reordered", "a step stands before the one that it depends on", _steps_reordered),
    Injector("tool_missing", "the tool that is called is no candidate", _tool_missing),
    Injector("parameter_renamed", "the schema has another name for a parameter", _schema_altered("rename")),
    Injector("parameter_retyped", "the schema has another type for a parameter", _schema_altered("retype")),
    Injector("choices_narrowed", "the schema's choices do not have the gold value", _schema_altered("narrow")),
    Injector("withheld_tool_shown", "the tool that serves the request is shown, and no call is due", _withheld_shown),
    Injector("served_request", "a candidate serves the request, and no call is due", _served_request),
    Injector("language_changed", "the sample is said to be in another language", _language_changed),
)
