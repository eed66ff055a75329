"""The injectors: every kind of defect that checks are measured on, and how to make it.

Each sort of wrong call is a defect of gold calls that replaces the gold.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random

from pydantic import JsonValue

from callwright.language.schemas import scalars
from callwright.validators.audit.editing import (
    KeptTurn,
    kept_turns,
    rebuilt,
    with_arguments,
    with_call,
    with_turn,
    with_words,
)
from callwright.validators.audit.editing import Replacement as Words
from callwright.validators.audit.subjects import (
    ArgumentPlace,
    AuditSubject,
    BrokenSample,
    Injection,
    Injector,
    UnfitError,
    injects,
    pick,
)
from callwright.validators.audit.turns import INJECTORS as OF_TURNS
from callwright.validators.audit.wordings import INJECTORS as OF_WORDINGS
from callwright.validators.origins import root_of
from callwright.validators.reading.defects import MAKERS, Maker, of_maker
from callwright.validators.reading.points import Calls, DuePoint, due_points
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    ResultTurn,
    Sample,
    Turn,
)

_LONG = 4  # words
_OTHER_TYPES = {"string": "integer", "integer": "boolean", "number": "boolean", "boolean": "string"}


def _with_value(sample: Sample, place: ArgumentPlace, value: JsonValue) -> Sample:
    """Return the sample with another value for an argument at every snapshot; evidence stays."""

    def has(call: GoldCall) -> bool:
        is_same = call.tool == place.call.tool and place.evidence in call.evidence
        return is_same and call.arguments.get(place.name) == place.value

    return with_arguments(sample, has, lambda arguments: {**arguments, place.name: value})


def _last_places(subject: AuditSubject) -> Iterator[ArgumentPlace]:
    """Return the arguments of the last calls; for executed samples, those of all calls."""
    places = list(subject.places())
    last = places[-1].turn if places else -1
    return (place for place in places if subject.traits.is_executed or place.turn == last)


@injects("text_cut_short", "a gold text lacks its second half")
def _cut_short(subject: AuditSubject, rng: Random) -> Sample | None:
    """Cut a free text in half, but not an enum, a code or a date."""
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
    """Yield the only calls of consecutive call turns, if of one tool; none for executed calls."""
    for (_, turn), (_, later) in pairwise(() if subject.traits.is_executed else subject.call_turns):
        if len(turn.calls) == len(later.calls) == 1 and turn.calls[0].tool == later.calls[0].tool:
            yield turn.calls[0], later.calls[0]


@injects("snapshot_behind", "a snapshot lacks what was said before it")
def _behind(subject: AuditSubject, rng: Random) -> Sample | None:
    """Remove an argument that the next snapshot still has."""
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
    executed_call, result = pick(
        [one for name in subject.candidates for one in pool.executed.get(name, [])], rng
    )
    following = subject.sample.turns[at + 1]
    if not isinstance(following, ResultTurn):
        return None
    sample = with_turn(
        subject.sample, at, turn.with_changes(calls=(executed_call.with_changes(evidence=()),))
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
    """Return an injection that alters a called tool's parameter: `rename`, `retype`, `narrow`.

    The parameter has an argument.
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


OF_ARGUMENTS = (_cut_short, _type_changed, _of_another_user, _behind, _ahead)
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


def injectors_named(names: Sequence[str]) -> tuple[Injector, ...]:
    """Return the injectors of these kinds of defects, or all if none is named.

    Raises ConfigurationError that lists the kinds.
    """
    injectors_by_name = {injector.name: injector for injector in INJECTORS}
    unknown = sorted({*names} - injectors_by_name.keys())
    if unknown:
        raise ConfigurationError(
            f"There is no kind of defect {unknown[0]!r}; the kinds are"
            f" {', '.join(injectors_by_name)}."
        )
    return tuple(injectors_by_name[name] for name in names) or INJECTORS


def broken_variants(
    subject: AuditSubject, injectors: Sequence[Injector], seed: int
) -> Iterator[tuple[str, BrokenSample]]:
    """Yield the subject with each of the defects that fit it, by name."""
    for injector in injectors:
        made = inject(injector, subject, Random(f"{seed}:{injector.name}:{subject.sample.key}"))
        if made is not None:
            yield injector.name, made


def wrong_calls(subject: AuditSubject) -> Iterator[tuple[str, Sample]]:
    """Yield the subject with each call defect that fits it, by name, in an order of its own."""
    rng = Random(subject.sample.key)
    injectors = (*OF_GOLD, *OF_ARGUMENTS, *OF_CALLS)
    for injector in rng.sample(injectors, len(injectors)):
        made = inject(injector, subject, rng)
        if made is not None and not made.tools:
            yield injector.name, made.sample


def inject(injector: Injector, subject: AuditSubject, rng: Random) -> BrokenSample | None:
    """Return the subject with this defect, or None if it does not fit or changes nothing."""
    try:
        injected = injector.inject(subject, rng)
    except UnfitError:
        return None
    if injected is None:
        return None
    broken_sample = injected if isinstance(injected, BrokenSample) else BrokenSample(injected, {})
    if broken_sample.sample.key == subject.sample.key and not broken_sample.tools:
        return None
    return broken_sample._replace(
        wrong=_wrong_arguments(subject.sample, broken_sample.sample, of_words=injector.is_of_words)
    )


def _wrong_arguments(intact: Sample, broken: Sample, *, of_words: bool) -> frozenset[str]:
    """Return the arguments with another value, or other words; empty if calls or turns moved.

    Then the arguments are not what is wrong.
    """
    before, after = (
        {
            (at, place): call
            for at, turn in enumerate(sample.turns)
            for place, call in enumerate(_calls(turn))
        }
        for sample in (intact, broken)
    )
    if before.keys() != after.keys() or any(
        before[at].tool != call.tool for at, call in after.items()
    ):
        return frozenset()
    pairs = [(before[at], call) for at, call in after.items()]
    values = {
        name
        for was, call in pairs
        for name, value in call.arguments.items()
        if name not in was.arguments or was.arguments[name] != value
    }
    words = {
        name
        for was, call in pairs
        for name in call.arguments
        if _quotes(was, name) != _quotes(call, name)
    }
    return frozenset(values | words if of_words else values)


def _calls(turn: Turn) -> tuple[GoldCall, ...]:
    return turn.calls if isinstance(turn, CallTurn) else ()


def _quotes(call: GoldCall, name: str) -> list[str]:
    return [one.quote for one in call.evidence if root_of(one.argument) == name]


def _injecting(maker: Maker) -> Injection:
    """Return an injection that replaces gold calls by the maker's wrong calls.

    It works on the last turn with calls, or on any turn of a sample whose calls were executed.
    """

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        tools = [subject.tools[key] for key in subject.sample.candidates]
        places = [due for due in due_points(subject.sample, tools) if due.calls]
        shown = places if subject.traits.is_executed else places[-1:]
        for due in rng.sample(shown, len(shown)):
            found = [one.calls for one in of_maker(maker, due, rng)]
            unsaid = [one for one in found if not _is_said(one, due, subject.words)]
            if unsaid and (made := _with_calls(subject, due, rng.choice(unsaid))):
                return made
        return None

    return inject


def _is_said(wrong: Calls, due: DuePoint, words: str) -> bool:
    """Whether the user says a text that only the wrong calls have."""
    new, known = (
        {one for call in calls for one in scalars(call.arguments)} for calls in (wrong, due.calls)
    )
    return any(isinstance(one, str) and one.casefold() in words for one in new - known)


def _with_calls(subject: AuditSubject, due: DuePoint, wrong: Calls) -> Sample | None:
    """Return the sample with other calls at a turn, and the same change at earlier snapshots.

    None if a result is unknown. Evidence stays with its arguments: a writer who is wrong about a
    value would quote the same words.
    """
    sample = subject.sample
    turn = sample.turns[due.turn]
    if not isinstance(turn, CallTurn):
        return None
    sources = _sources(wrong, due.calls)
    turns_kept = kept_turns(sample)
    same = {call.key: one for call, one in zip(due.calls, turn.calls, strict=True)}
    calls = tuple(
        _gold_of(call, same.get(call.key) if at is None else turn.calls[at])
        for call, at in zip(wrong, sources, strict=True)
    )
    turns_kept[due.turn] = KeptTurn(turn.with_changes(calls=calls), due.turn, tuple(sources))
    following = next(iter(sample.turns[due.turn + 1 :]), None)
    if turn.executed and isinstance(following, ResultTurn):
        pairs = zip(wrong, sources, strict=True)
        try:
            results = tuple(_result(subject, call, at, due, following) for call, at in pairs)
        except UnfitError:
            return None
        turns_kept[due.turn + 1] = KeptTurn(following.with_changes(results=results), due.turn + 1)
        if not results:
            del turns_kept[due.turn : due.turn + 2]
    changed = rebuilt(sample, turns_kept)
    return changed if turn.executed else _with_earlier(changed, due, wrong, sources)


def _sources(calls: Sequence[Call], due: Sequence[Call]) -> list[int | None]:
    """Return the index of the due call from which each call was made, or None for a new call."""
    left: list[Call | None] = [*due]
    source_indexes: list[int | None] = []
    for call in calls:
        at = left.index(call) if call in left else None
        source_indexes.append(at)
        if at is not None:
            left[at] = None
    if len(calls) == len(due):
        rest = [at for at, one in enumerate(left) if one is not None]
        source_indexes = [rest.pop(0) if at is None and rest else at for at in source_indexes]
    return source_indexes


def _gold_of(call: Call, source: GoldCall | None) -> GoldCall:
    evidence = tuple(_evidence_of(call, source)) if source else ()
    return GoldCall(tool=call.tool, arguments=call.arguments, evidence=evidence)


def _evidence_of(call: Call, source: GoldCall) -> Iterator[Evidence]:
    """Yield the evidence for the arguments of a call that was made from another one.

    A value that moved to another argument takes its evidence along.
    """
    for name, value in call.arguments.items():
        moved = [one for one, held in source.arguments.items() if held == value]
        if name in moved or (name in source.arguments and not moved):
            taken = name
        else:
            taken = next(iter(moved), name)
        for proof in source.evidence:
            if root_of(proof.argument) == taken:
                yield proof.with_changes(argument=f"{name}{proof.argument.removeprefix(taken)}")


def _result(
    subject: AuditSubject, call: Call, at: int | None, due: DuePoint, following: ResultTurn
) -> JsonValue:
    """Return what the call returns: the result of its source, or of the same tool elsewhere."""
    same = next((place for place, one in enumerate(due.calls) if one == call), at)
    if same is not None:
        return following.results[same]
    return pick(subject.pool.executed.get(call.tool, []), Random(call.key))[1]


def _with_earlier(
    sample: Sample, due: DuePoint, wrong: Calls, sources: Sequence[int | None]
) -> Sample:
    """Return the sample with each changed call also changed wherever it occurred before."""
    for call, at in zip(wrong, sources, strict=True):
        before = None if at is None else due.calls[at]
        if before is None or before == call:
            continue
        for index, turn in enumerate(sample.turns[: due.turn]):
            for position, gold_call in enumerate(_calls(turn)):
                # each value that it has of the call before becomes that of the new one
                if gold_call.tool == before.tool:
                    arguments = {
                        name: call.arguments[name] if value == before.arguments.get(name) else value
                        for name, value in gold_call.arguments.items()
                        if name in call.arguments or value != before.arguments.get(name)
                    }
                    changed = _gold_of(Call(tool=call.tool, arguments=arguments), gold_call)
                    sample = with_call(sample, index, position, changed)
    return sample


OF_GOLD = tuple(Injector(one.name, one.breaks, _injecting(one)) for one in MAKERS)
INJECTORS: tuple[Injector, ...] = (*OF_GOLD, *OF_ARGUMENTS, *OF_CALLS, *OF_WORDINGS, *OF_TURNS)
