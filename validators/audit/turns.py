"""Defects of how a conversation goes on: turns, results, replies, dialogue acts and messages."""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, get_args

from pydantic import JsonValue

from callwright.language.packs import widened
from callwright.validators.audit.editing import kept_turns, rebuilt, with_evidence, with_turn
from callwright.validators.audit.subjects import AuditSubject, Injection, Injector, names_answered, pick
from callwright.warehouse.records import (
    CallTurn,
    DialogueAct,
    Evidence,
    Message,
    ReplyTurn,
    ResultTurn,
    Sample,
    UserTurn,
)

_SENTENCE = re.compile(widened(r"@[^.!?]+@[.!?]+\s*"))
_FACT = re.compile(r"\d+(?:[.:,-]\d+)*")
_ERROR = "error"
_SHORTEST_FACT = 3
_FEW_LETTERS = 8  # "It's …."


def _without(kind: str, *, before: str = "") -> Injection:
    """The conversation without one of its turns of a kind, `before` one of another kind where that matters; the first stays."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        kinds = [turn.kind for turn in subject.sample.turns]
        found = [at for at in range(1, len(kinds)) if kinds[at] == kind and before in ("", *kinds[at + 1 : at + 2])]
        at = pick(found, rng)
        return _left_out(subject.sample, {at})

    return inject


def _left_out(sample: Sample, indexes: set[int]) -> Sample:
    return rebuilt(sample, [one for one in kept_turns(sample) if one.old not in indexes])


def _exchange_removed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A question, its answer and what was due then are gone; calls that come later have the value still."""
    kinds = [turn.kind for turn in subject.sample.turns]
    last, due = subject.call_turns[-1] if subject.call_turns else (0, CallTurn())
    used = {one.turn for call in due.calls for one in call.evidence}
    found = [at for at in range(1, last - 2) if kinds[at : at + 3] == ["reply", "user", "calls"] and at + 1 in used]
    at = pick(found, rng)
    return _left_out(subject.sample, {at, at + 1, at + 2})


def _turns_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    """Two turns of the user stand in each other's place."""
    users = [at for at, _ in subject.user_turns]
    if len(users) < 2 or subject.traits.asked == "conversation":  # noqa: PLR2004 - two of them
        return None
    first, second = sorted(rng.sample(users, 2))
    kept = kept_turns(subject.sample)
    kept[first], kept[second] = kept[second], kept[first]
    return rebuilt(subject.sample, kept)


def _question_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    """The assistant asks for something else, and the user answers as before, with no more than the value."""
    options: list[tuple[int, ReplyTurn, str]] = []
    for at, turn in enumerate(subject.sample.turns[:-1]):
        names = names_answered(subject.sample, at)
        if isinstance(turn, ReplyTurn) and names and _is_bare(subject, at + 1):
            others = subject.pool.questions.get(subject.sample.language, [])
            options += [(at, turn, one.text) for one in others if one.names and not one.names & names]
    at, turn, text = pick(options, rng)
    return with_turn(subject.sample, at, turn.with_changes(text=text))


def _is_bare(subject: AuditSubject, at: int) -> bool:
    """Whether the user says a value at a turn, and hardly anything besides."""
    turn = subject.sample.turns[at]
    quotes = {place.evidence.quote for place in subject.stated() if place.evidence.turn == at}
    return isinstance(turn, UserTurn) and len(turn.text) - sum(map(len, quotes)) <= _FEW_LETTERS


def _results(subject: AuditSubject) -> Iterator[tuple[int, ResultTurn]]:
    return ((at, turn) for at, turn in enumerate(subject.sample.turns) if isinstance(turn, ResultTurn))


def _with_result(subject: AuditSubject, at: int, place: int, result: JsonValue) -> Sample:
    turn = subject.sample.turns[at]
    results = turn.results if isinstance(turn, ResultTurn) else ()
    changed = (*results[:place], result, *results[place + 1 :])
    return with_turn(subject.sample, at, ResultTurn(results=changed))


def _response_altered(subject: AuditSubject, rng: Random) -> Sample | None:
    """A number or a text that a call returned is another one."""
    options = [
        (at, place, path)
        for at, turn in _results(subject) for place, result in enumerate(turn.results) for path, _ in _leaves(result)
    ]  # fmt: skip
    at, place, path = pick(options, rng)
    turn = subject.sample.turns[at]
    result = turn.results[place] if isinstance(turn, ResultTurn) else None
    return _with_result(subject, at, place, _with_leaf(result, path, rng))


def _leaves(value: JsonValue, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], JsonValue]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(part, (*path, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _leaves(part, (*path, index))
    elif isinstance(value, (int, float, str)) and value != "":
        yield path, value


def _with_leaf(value: Any, path: tuple[str | int, ...], rng: Random) -> Any:  # noqa: ANN401 - JSON of any shape
    if path:
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        copy[path[0]] = _with_leaf(value[path[0]], path[1:], rng)
        return copy
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + rng.randint(1, 9)
    return _other_digit(value, rng) if any(letter.isdecimal() for letter in value) else f"{value} 2"


def _other_digit(text: str, rng: Random) -> str:
    at = rng.choice([at for at, letter in enumerate(text) if letter.isdecimal()])
    return f"{text[:at]}{(int(text[at]) + rng.randint(1, 9)) % 10}{text[at + 1 :]}"


def _response_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    """A call returned what it did in another sample, to other arguments."""
    options: list[tuple[int, int, JsonValue]] = []
    for at, turn in _results(subject):
        made = subject.sample.turns[at - 1]
        for place, (call, result) in enumerate(
            zip(made.calls if isinstance(made, CallTurn) else (), turn.results, strict=False)
        ):
            options += [
                (at, place, other) for one, other in subject.pool.executed.get(call.tool, [])
                if one.arguments != call.arguments and other != result
            ]  # fmt: skip
    return _with_result(subject, *pick(options, rng))


def _results_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    """Two calls of a step have each other's results."""
    options = [
        (at, turn) for at, turn in _results(subject) if len(turn.results) > 1 and turn.results[0] != turn.results[1]
    ]
    at, turn = pick(options, rng)
    return with_turn(subject.sample, at, ResultTurn(results=(turn.results[1], turn.results[0], *turn.results[2:])))


def _replies(subject: AuditSubject) -> list[tuple[int, ReplyTurn, tuple[JsonValue, ...]]]:
    """The replies that follow results, with all that was returned since the user spoke."""
    found: list[tuple[int, ReplyTurn, tuple[JsonValue, ...]]] = []
    returned: tuple[JsonValue, ...] = ()
    for at, turn in enumerate(subject.sample.turns):
        match turn:
            case UserTurn():
                returned = ()
            case ResultTurn(results=results):
                returned = (*returned, *results)
            case ReplyTurn() if returned:
                found.append((at, turn, returned))
            case _:
                pass
    return found


def _has_failed(results: tuple[JsonValue, ...]) -> bool:
    return any(isinstance(result, dict) and _ERROR in result for result in results)


def _with_reply(subject: AuditSubject, at: int, text: str) -> Sample:
    turn = subject.sample.turns[at]
    return (
        with_turn(subject.sample, at, turn.with_changes(text=text)) if isinstance(turn, ReplyTurn) else subject.sample
    )


def _fact_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A figure that the reply tells is another one than was returned."""
    options = [
        (at, turn.text, found.span()) for at, turn, _ in _replies(subject) for found in _FACT.finditer(turn.text)
    ]
    at, text, (start, end) = pick(options, rng)
    return _with_reply(subject, at, text[:start] + _other_digit(text[start:end], rng) + text[end:])


def _name_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A name that the reply tells is one that was not returned."""
    options = [
        (at, turn.text, value)
        for at, turn, results in _replies(subject) for _, value in _leaves(list(results))
        if isinstance(value, str) and len(value) > _SHORTEST_FACT and value in turn.text and not any(map(str.isdecimal, value))
    ]  # fmt: skip
    at, text, value = pick(options, rng)
    own = {str(leaf) for _, turn in _results(subject) for _, leaf in _leaves(list(turn.results))}
    others = sorted(
        {
            leaf
            for made in subject.pool.executed.values() for _, result in made[:10] for _, leaf in _leaves(result)
            if isinstance(leaf, str) and leaf not in own and _SHORTEST_FACT < len(leaf) <= 2 * len(value)
        }
    )  # fmt: skip
    other = pick(others, rng)
    return _with_reply(subject, at, text.replace(value, other))


def _fact_added(subject: AuditSubject, rng: Random) -> Sample | None:
    """The reply tells something besides that nothing returned."""
    (at, turn, _), fact = pick(_replies(subject), rng), pick(subject.word_lists.get("wrong_facts", []), rng)
    return _with_reply(subject, at, f"{turn.text} {fact}")


def _fact_left_out(subject: AuditSubject, rng: Random) -> Sample | None:
    """The reply lacks a sentence that tells something."""
    options = [
        (at, turn.text, found.span())
        for at, turn, _ in _replies(subject) for found in _SENTENCE.finditer(turn.text) if _FACT.search(found.group())
    ]  # fmt: skip
    at, text, (start, end) = pick(options, rng)
    left = (text[:start] + text[end:]).strip()
    return _with_reply(subject, at, left) if left else None


def _outcome_turned(name: str, *, of_failure: bool) -> Injection:
    """What went wrong is told as done, or the other way round."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        found = [(at, turn) for at, turn, results in _replies(subject) if _has_failed(results) is of_failure]
        (at, _), text = pick(found, rng), pick(subject.word_lists.get(name, []), rng)
        return _with_reply(subject, at, text)

    return inject


def _reply_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    """The reply is one that the assistant gives in another sample."""
    at, turn, _ = pick(_replies(subject), rng)
    others = [one.text for one in subject.pool.questions.get(subject.sample.language, []) if one.text != turn.text]
    return _with_reply(subject, at, pick(others, rng))


def _act_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """A reply has another dialogue act."""
    replies = [(at, turn) for at, turn in enumerate(subject.sample.turns) if isinstance(turn, ReplyTurn) and turn.acts]
    at, turn = pick(replies, rng)
    others: list[DialogueAct] = [act for act in get_args(DialogueAct) if act not in turn.acts]
    acts = (rng.choice(others), *turn.acts[1:])
    return with_turn(subject.sample, at, turn.with_changes(acts=acts))


def _messages(subject: AuditSubject) -> list[tuple[int, UserTurn, Message]]:
    return [(at, turn, turn.external) for at, turn in subject.user_turns if turn.external is not None]


def _with_message(subject: AuditSubject, at: int, message: Message) -> Sample:
    """The sample with another message; evidence that stood in the old one stands where its words do, else nowhere."""
    turn = subject.sample.turns[at]
    if not isinstance(turn, UserTurn):
        return subject.sample

    def moved(evidence: Evidence) -> Evidence | None:
        if evidence.turn != at or not evidence.in_message:
            return evidence
        start = message.text.find(evidence.quote)
        return evidence.with_changes(start=start, end=start + len(evidence.quote)) if start >= 0 else None

    return with_evidence(with_turn(subject.sample, at, turn.with_changes(external=message)), moved)


def _message_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    """The message is that of another sample."""
    at, _, message = pick(_messages(subject), rng)
    others = [one for one in subject.pool.messages.get(subject.sample.language, []) if one.text != message.text]
    return _with_message(subject, at, pick(others, rng))


def _app_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """The message came by another app than the user says."""
    at, _, message = pick(_messages(subject), rng)
    apps = {one.app for one in subject.pool.messages.get(subject.sample.language, [])} - {message.app}
    return _with_message(subject, at, message.with_changes(app=pick(sorted(apps), rng)))


def _sender_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    """The message is signed by somebody of whom the user says nothing."""
    (at, _, message), sender = pick(_messages(subject), rng), pick(subject.word_lists.get("senders", []), rng)
    text = f"{message.text}\n{sender[0].upper()}{sender[1:]}"
    return _with_message(subject, at, message.with_changes(text=text))


def _message_without_value(subject: AuditSubject, rng: Random) -> Sample | None:
    """The message does not say what it is pointed to for."""
    options = [
        (at, message, evidence.quote)
        for at, _, message in _messages(subject) for _, turn in subject.call_turns for call in turn.calls
        for evidence in call.evidence if evidence.turn == at and evidence.in_message and evidence.quote in message.text
    ]  # fmt: skip
    at, message, quote = pick(options, rng)
    return _with_message(subject, at, message.with_changes(text=message.text.replace(quote, "")))


def _message_missing(subject: AuditSubject, rng: Random) -> Sample | None:
    """The user points to a message that is not there."""
    at, turn, _ = pick(_messages(subject), rng)
    left = with_evidence(subject.sample, lambda one: None if one.turn == at and one.in_message else one)
    return with_turn(left, at, turn.with_changes(external=None))


INJECTORS = (
    Injector("user_turn_removed", "a turn of the user is missing", _without("user")),
    Injector(
        "call_turn_removed",
        "the calls of a turn are missing, and the turn with them",
        _without("calls", before="result"),
    ),
    Injector("result_turn_removed", "what calls returned is missing", _without("result")),
    Injector("reply_removed", "a turn of the assistant is missing", _without("reply", before="user")),
    Injector("exchange_removed", "a question and its answer are missing", _exchange_removed),
    Injector("turns_exchanged", "two turns of the user are exchanged", _turns_exchanged),
    Injector(
        "question_exchanged", "the assistant asks for something else, and gets the bare value", _question_exchanged
    ),
    Injector("response_altered", "a value in a recorded response is another one", _response_altered),
    Injector("response_of_other", "a call has the response of another sample", _response_of_other),
    Injector("results_exchanged", "two calls have each other's results", _results_exchanged),
    Injector("fact_changed", "the reply tells another figure than was returned", _fact_changed),
    Injector("name_changed", "the reply tells another name than was returned", _name_changed),
    Injector("fact_added", "the reply tells what nothing returned", _fact_added),
    Injector("fact_left_out", "the reply lacks something that was asked for", _fact_left_out),
    Injector(
        "error_told_as_success",
        "a call failed, and the reply says that it is done",
        _outcome_turned("successes", of_failure=True),
    ),
    Injector(
        "success_told_as_error",
        "calls succeeded, and the reply says that they failed",
        _outcome_turned("failures", of_failure=False),
    ),
    Injector("reply_of_other", "the reply is that of another sample", _reply_of_other),
    Injector("act_changed", "a reply has another dialogue act", _act_changed),
    Injector("message_of_other", "the message is that of another sample", _message_of_other),
    Injector("app_changed", "the message came by another app than the user says", _app_changed),
    Injector("sender_changed", "the message is from somebody else than the user says", _sender_changed),
    Injector("message_without_value", "the message does not have the value", _message_without_value),
    Injector("message_missing", "the message is missing", _message_missing),
)
