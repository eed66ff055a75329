"""Defects of gold calls that only a sample shows: of which calls are due and in what order, of
their arguments, and of the tools.

Arguments are those of another user, from a turn too early or too late, or taken back.
"""

from collections.abc import Iterator
from itertools import pairwise
from random import Random

from pydantic import JsonValue

from callwright.validators.audit.editing import Replacement as Words
from callwright.validators.audit.editing import (
    kept_turns,
    rebuilt,
    with_arguments,
    with_turn,
    with_words,
)
from callwright.validators.audit.subjects import (
    ArgumentPlace,
    AuditSubject,
    BrokenSample,
    Injection,
    injects,
    pick,
)
from callwright.warehouse.records import GoldCall, JsonSchema, ResultTurn, Sample

_LONG = 4  # words
_OTHER_TYPES = {"string": "integer", "integer": "boolean", "number": "boolean", "boolean": "string"}


def _with_value(sample: Sample, place: ArgumentPlace, value: JsonValue) -> Sample:
    """The sample with another value for an argument, at every snapshot that has the old one; its
    evidence stays.
    """

    def has(call: GoldCall) -> bool:
        is_same = call.tool == place.call.tool and place.evidence in call.evidence
        return is_same and call.arguments.get(place.name) == place.value

    return with_arguments(sample, has, lambda arguments: {**arguments, place.name: value})


def _last_places(subject: AuditSubject) -> Iterator[ArgumentPlace]:
    """The arguments of the calls that count in the end; of what was executed all."""
    places = list(subject.places())
    last = places[-1].turn if places else -1
    return (place for place in places if subject.traits.is_executed or place.turn == last)


@injects("text_cut_short", "a gold text lacks its second half")
def _cut_short(subject: AuditSubject, rng: Random) -> Sample | None:
    """A free text; enums, codes and dates have no part in it."""
    texts = [
        (place, words)
        for place in _last_places(subject)
        if isinstance(place.value, str)
        and "enum" not in place.schema
        and len(words := place.value.split()) >= _LONG
    ]
    place, words = pick(texts, rng)
    return _with_value(subject.sample, place, " ".join(words[: len(words) // 2]))


@injects("number_as_text", "a gold number is text")
def _type_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    places = [
        one
        for one in _last_places(subject)
        if isinstance(one.value, int) and not isinstance(one.value, bool)
    ]
    place = pick(places, rng)
    return _with_value(subject.sample, place, str(place.value))


@injects("values_of_another_user", "all arguments are those of another sample")
def _of_another_user(subject: AuditSubject, rng: Random) -> Sample | None:
    options = [
        (call, other)
        for _, turn in subject.call_turns[-1:]
        for call in turn.calls
        for other in subject.pool.calls.get((subject.sample.language, call.tool), [])
        if other.arguments.keys() == call.arguments.keys()
        and other.arguments != call.arguments
        and all(str(value).casefold() not in subject.words for value in other.arguments.values())
    ]
    own, other = pick(options, rng)
    return with_arguments(
        subject.sample, lambda call: call == own, lambda _arguments: other.arguments
    )


def _pairs(subject: AuditSubject) -> Iterator[tuple[GoldCall, GoldCall]]:
    """The only calls of two turns that follow each other, of one tool; of what was executed
    none.
    """
    for (_, turn), (_, later) in pairwise(() if subject.traits.is_executed else subject.call_turns):
        if len(turn.calls) == len(later.calls) == 1 and turn.calls[0].tool == later.calls[0].tool:
            yield turn.calls[0], later.calls[0]


@injects("snapshot_behind", "a snapshot lacks what was said before it")
def _behind(subject: AuditSubject, rng: Random) -> Sample | None:
    """The next one has it."""
    options = [
        (call, name)
        for call, later in _pairs(subject)
        for name in call.arguments
        if name in later.arguments
    ]
    call, gone = pick(options, rng)
    left = {name: value for name, value in call.arguments.items() if name != gone}
    return with_arguments(subject.sample, lambda one: one is call, lambda _arguments: left)


@injects("snapshot_ahead", "a snapshot has what is said only later")
def _ahead(subject: AuditSubject, rng: Random) -> Sample | None:
    options = [
        (call, name, value)
        for call, later in _pairs(subject)
        for name, value in later.arguments.items()
        if name not in call.arguments
    ]
    call, name, value = pick(options, rng)
    return with_arguments(
        subject.sample, lambda one: one is call, lambda arguments: {**arguments, name: value}
    )


@injects("value_taken_back", "the gold has a value that the user took back")
def _taken_back(subject: AuditSubject, rng: Random) -> Sample | None:
    """That of a snapshot before, or another one that stands in the turn."""
    if not subject.traits.has_correction:
        return None
    options: list[tuple[ArgumentPlace, JsonValue]] = []
    for place in subject.places():
        earlier = [
            call.arguments[place.name]
            for at, turn in subject.call_turns
            if at < place.turn
            for call in turn.calls
            if place.name in call.arguments
        ]
        options += [(place, value) for value in earlier if value != place.value]
        options += [(place, value) for value in _stated_besides(place, subject)]
    return _with_value(subject.sample, *pick(options, rng))


def _stated_besides(place: ArgumentPlace, subject: AuditSubject) -> Iterator[JsonValue]:
    """Values that other samples have for the parameter and that stand in the very turn of the
    gold value, before it.
    """
    evidence = place.evidence
    turn = dict(subject.user_turns).get(-1 if evidence.turn is None else evidence.turn)
    before = turn.text[: evidence.start].casefold() if turn and place.is_stated else ""
    for one in subject.pool.values_by_name.get((subject.sample.language, place.name), []):
        is_other = one.value != place.value and type(one.value) is type(place.value)
        if is_other and len(one.quote) > 1 and one.quote.casefold() in before:
            yield one.value


@injects("step_dropped", "a step is missing that no later one builds upon")
def _step_dropped(subject: AuditSubject, rng: Random) -> Sample | None:
    used = {
        one.turn
        for _, turn in subject.call_turns
        for call in turn.calls
        for one in call.evidence
        if one.path
    }
    steps = [at for at, turn in subject.call_turns if turn.executed and at + 1 not in used]
    if len(subject.call_turns) < 2:  # noqa: PLR2004 - one of several
        return None
    at = pick(steps, rng)
    return rebuilt(
        subject.sample, [one for one in kept_turns(subject.sample) if one.old not in (at, at + 1)]
    )


@injects("call_where_none_is_due", "a call stands where no candidate fits")
def _call_where_none_is_due(subject: AuditSubject, rng: Random) -> Sample | None:
    idle = [(at, one) for at, one in subject.sample.call_turns if not one.calls]
    at, turn = pick(idle, rng)
    pool, language = subject.pool, subject.sample.language
    if not turn.executed:
        calls = [
            call for name in subject.candidates for call in pool.calls.get((language, name), [])
        ]
        call = pick(calls, rng).with_changes(evidence=())
        return with_turn(subject.sample, at, turn.with_changes(calls=(call,)))
    made, result = pick(
        [one for name in subject.candidates for one in pool.executed.get(name, [])], rng
    )
    following = subject.sample.turns[at + 1]
    if not isinstance(following, ResultTurn):
        return None
    sample = with_turn(
        subject.sample, at, turn.with_changes(calls=(made.with_changes(evidence=()),))
    )
    return with_turn(sample, at + 1, following.with_changes(results=(*following.results, result)))


@injects("steps_reordered", "a step stands before the one that it depends on")
def _steps_reordered(subject: AuditSubject, rng: Random) -> Sample | None:
    options = [
        (first, second)
        for (first, _), (second, turn) in pairwise(subject.call_turns)
        if second == first + 2
        and any(one.turn == first + 1 for call in turn.calls for one in call.evidence if one.path)
    ]
    first, second = pick(options, rng)
    kept = kept_turns(subject.sample)
    in_order = [*kept[:first], *kept[second : second + 2], *kept[first:second], *kept[second + 2 :]]
    return rebuilt(subject.sample, in_order)


@injects("tool_missing", "the tool that is called is no candidate")
def _tool_missing(subject: AuditSubject, rng: Random) -> Sample | None:
    due, candidates = subject.due, subject.sample.candidates
    keys = [key for key in candidates if subject.tools[key].name in due]
    if len(candidates) < 2:  # noqa: PLR2004 - another one is left
        return None
    key = pick(keys, rng)
    return subject.sample.with_changes(candidates=tuple(one for one in candidates if one != key))


def _schema_altered(change: str) -> Injection:
    """The schema of the tool that is called is another one: `rename`, `retype` or `narrow` a
    parameter that has an argument.
    """

    def inject(subject: AuditSubject, rng: Random) -> BrokenSample | None:
        options = [
            (subject.candidates[call.tool], name)
            for _, turn in subject.call_turns
            for call in turn.calls
            if call.tool in subject.candidates
            for name in call.arguments
            if name in subject.candidates[call.tool].properties
        ]
        rng.shuffle(options)
        for tool, name in options:
            properties = _altered(change, tool.properties, name)
            if properties is not None:
                required = [one if one in properties else f"{name}_value" for one in tool.required]
                schema = {**tool.parameters, "properties": properties, "required": required}
                other = tool.with_changes(parameters=schema)
                candidates = tuple(
                    other.key if key == tool.key else key for key in subject.sample.candidates
                )
                return BrokenSample(
                    subject.sample.with_changes(candidates=candidates), {other.key: other}
                )
        return None

    return inject


def _altered(
    change: str, properties: dict[str, JsonSchema], name: str
) -> dict[str, JsonSchema] | None:
    schema = properties[name]
    if change == "rename":
        return {f"{one}_value" if one == name else one: value for one, value in properties.items()}
    kind = schema.get("type", "")
    if change == "retype":
        return {**properties, name: {"type": _OTHER_TYPES[kind]}} if kind in _OTHER_TYPES else None
    return {**properties, name: {**schema, "enum": ["none of these"]}} if kind == "string" else None


@injects("withheld_tool_shown", "the tool that serves the request is shown, and no call is due")
def _withheld_shown(subject: AuditSubject, rng: Random) -> Sample | None:
    sample = subject.sample
    is_idle = any(not turn.calls for _, turn in sample.call_turns)
    if not sample.withheld or not is_idle:
        return None
    shown = list(sample.candidates)
    shown[rng.randrange(len(shown))] = sample.withheld[0]
    return sample.with_changes(candidates=tuple(shown), withheld=())


@injects("served_request", "a candidate serves the request, and no call is due")
def _served_request(subject: AuditSubject, rng: Random) -> Sample | None:
    if subject.call_turns or not subject.user_turns:
        return None
    names = subject.candidates.keys()
    served = [
        text
        for text, tools in subject.pool.requests.get(subject.sample.language, [])
        if tools <= names
    ]
    text, (at, turn) = pick(served, rng), subject.user_turns[0]
    return with_words(subject.sample, at, [Words(0, len(turn.text), text)])


@injects("language_changed", "the sample is said to be in another language")
def _language_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    others = sorted(
        {language for language in subject.pool.requests if language != subject.sample.language}
    )
    return subject.sample.with_changes(language=pick(others, rng))


OF_ARGUMENTS = (_cut_short, _type_changed, _of_another_user, _behind, _ahead, _taken_back)
OF_CALLS = (
    _step_dropped,
    _call_where_none_is_due,
    _steps_reordered,
    _tool_missing,
    injects("parameter_renamed", "the schema has another name for a parameter")(
        _schema_altered("rename")
    ),
    injects("parameter_retyped", "the schema has another type for a parameter")(
        _schema_altered("retype")
    ),
    injects("choices_narrowed", "the schema's choices do not have the gold value")(
        _schema_altered("narrow")
    ),
    _withheld_shown,
    _served_request,
    _language_changed,
)
