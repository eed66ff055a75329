"""Defects in the course of a conversation: turns, results, replies, dialogue acts, messages."""

import re
from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import get_args

from pydantic import JsonValue

from callwright.language.packs import widened
from callwright.language.schemas import ValueLeaf, leaves, replaced_at
from callwright.validators.audit.editing import kept_turns, rebuilt, with_evidence, with_turn
from callwright.validators.audit.subjects import (
    AuditSubject,
    Injection,
    injects,
    names_answered,
    pick,
)
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


def _without(kind: str, before: str = "") -> Injection:
    """Return an injection that omits a turn of a kind, perhaps one `before` another kind.

    The first turn always stays.
    """

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        kinds = [turn.kind for turn in subject.sample.turns]
        found = [
            at
            for at in range(1, len(kinds))
            if kinds[at] == kind and before in ("", *kinds[at + 1 : at + 2])
        ]
        return _left_out(subject.sample, {pick(found, rng)})

    return inject


def _left_out(sample: Sample, indexes: set[int]) -> Sample:
    return rebuilt(sample, [one for one in kept_turns(sample) if one.old not in indexes])


@injects("exchange_removed", "a question and its answer are missing")
def _exchange_removed(subject: AuditSubject, rng: Random) -> Sample | None:
    """Remove the calls due then as well; later calls still have the value."""
    kinds = [turn.kind for turn in subject.sample.turns]
    last, due = subject.call_turns[-1] if subject.call_turns else (0, CallTurn())
    used = {one.turn for call in due.calls for one in call.evidence}
    places = [
        at
        for at in range(1, last - 2)
        if kinds[at : at + 3] == ["reply", "user", "calls"] and at + 1 in used
    ]
    at = pick(places, rng)
    return _left_out(subject.sample, {at, at + 1, at + 2})


@injects("turns_exchanged", "two turns of the user are exchanged")
def _turns_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    users = [at for at, _ in subject.user_turns]
    if len(users) < 2 or subject.traits.asked == "conversation":  # noqa: PLR2004 - two of them
        return None
    first, second = sorted(rng.sample(users, 2))
    kept = kept_turns(subject.sample)
    kept[first], kept[second] = kept[second], kept[first]
    return rebuilt(subject.sample, kept)


@injects("question_exchanged", "the assistant asks for something else, and gets the bare value")
def _question_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    options: list[tuple[int, str]] = []
    for at, (turn, answer) in enumerate(pairwise(subject.sample.turns)):
        names = names_answered(subject.sample, at)
        if isinstance(turn, ReplyTurn) and isinstance(answer, UserTurn) and names:
            quotes = {
                place.evidence.quote for place in subject.stated() if place.evidence.turn == at + 1
            }
            if len(answer.text) - sum(map(len, quotes)) <= _FEW_LETTERS:
                others = subject.pool.questions.get(subject.sample.language, [])
                options += [(at, one.text) for one in others if one.names and not one.names & names]
    return _with_reply(subject, *pick(options, rng))


def _results(subject: AuditSubject) -> Iterator[tuple[int, ResultTurn]]:
    return (
        (at, turn) for at, turn in enumerate(subject.sample.turns) if isinstance(turn, ResultTurn)
    )


def _with_result(
    subject: AuditSubject, at: int, turn: ResultTurn, place: int, result: JsonValue
) -> Sample:
    results = (*turn.results[:place], result, *turn.results[place + 1 :])
    return with_turn(subject.sample, at, ResultTurn(results=results))


@injects("response_altered", "a value in a recorded response is another one")
def _response_altered(subject: AuditSubject, rng: Random) -> Sample | None:
    """Change a number, a boolean or a text."""
    options = [
        (at, turn, place, leaf)
        for at, turn in _results(subject)
        for place, result in enumerate(turn.results)
        for leaf in _leaves(result)
    ]
    at, turn, place, leaf = pick(options, rng)
    altered = replaced_at(turn.results[place], leaf.path, _otherwise(leaf.value, rng))
    return _with_result(subject, at, turn, place, altered)


def _leaves(value: JsonValue) -> Iterator[ValueLeaf]:
    return (
        one
        for one in leaves(value, {})
        if isinstance(one.value, int | float | str) and one.value != ""
    )


def _otherwise(value: JsonValue, rng: Random) -> JsonValue:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + rng.randint(1, 9)
        case _:
            text = str(value)
            if any(letter.isdecimal() for letter in text):
                return _other_digit(text, rng)
            return f"{text} 2"


def _other_digit(text: str, rng: Random) -> str:
    at = rng.choice([at for at, letter in enumerate(text) if letter.isdecimal()])
    return f"{text[:at]}{(int(text[at]) + rng.randint(1, 9)) % 10}{text[at + 1 :]}"


@injects("response_of_other", "a call has the response of another sample")
def _response_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    """Take the response of a call with other arguments."""
    options: list[tuple[int, ResultTurn, int, JsonValue]] = []
    for at, turn in _results(subject):
        for place, (call, result) in enumerate(
            zip(subject.sample.calls_at(at - 1), turn.results, strict=False)
        ):
            others = subject.pool.executed.get(call.tool, [])
            other_results = (
                other
                for one, other in others
                if one.arguments != call.arguments and other != result
            )
            options += [(at, turn, place, other) for other in other_results]
    return _with_result(subject, *pick(options, rng))


@injects("results_exchanged", "two calls have each other's results")
def _results_exchanged(subject: AuditSubject, rng: Random) -> Sample | None:
    results = ((at, turn.results) for at, turn in _results(subject))
    at, (one, other, *more) = pick(
        [(at, made) for at, made in results if len(made) > 1 and made[0] != made[1]], rng
    )
    return with_turn(subject.sample, at, ResultTurn(results=(other, one, *more)))


def _replies(subject: AuditSubject) -> list[tuple[int, ReplyTurn, tuple[JsonValue, ...]]]:
    """Return the replies that follow results, with everything returned since the user spoke."""
    replies: list[tuple[int, ReplyTurn, tuple[JsonValue, ...]]] = []
    returned: tuple[JsonValue, ...] = ()
    for at, turn in enumerate(subject.sample.turns):
        match turn:
            case UserTurn():
                returned = ()
            case ResultTurn(results=results):
                returned = (*returned, *results)
            case ReplyTurn() if returned:
                replies.append((at, turn, returned))
            case _:
                pass
    return replies


def _with_reply(subject: AuditSubject, at: int, text: str) -> Sample:
    return with_turn(subject.sample, at, subject.sample.turns[at].with_changes(text=text))


@injects("fact_changed", "the reply tells another figure than was returned")
def _fact_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    at, found = pick(
        [(at, one) for at, turn, _ in _replies(subject) for one in _FACT.finditer(turn.text)], rng
    )
    text, (start, end) = found.string, found.span()
    return _with_reply(subject, at, text[:start] + _other_digit(text[start:end], rng) + text[end:])


@injects("name_changed", "the reply tells another name than was returned")
def _name_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    options = [
        (at, turn.text, value)
        for at, turn, results in _replies(subject)
        for _, value, _ in _leaves(list(results))
        if isinstance(value, str)
        and len(value) > _SHORTEST_FACT
        and value in turn.text
        and not any(map(str.isdecimal, value))
    ]
    at, text, value = pick(options, rng)
    own = {str(leaf) for _, turn in _results(subject) for _, leaf, _ in _leaves(list(turn.results))}
    others = {
        leaf
        for made in subject.pool.executed.values()
        for _, result in made[:10]
        for _, leaf, _ in _leaves(result)
        if isinstance(leaf, str)
        and leaf not in own
        and _SHORTEST_FACT < len(leaf) <= 2 * len(value)
    }
    return _with_reply(subject, at, text.replace(value, pick(sorted(others), rng)))


@injects("fact_added", "the reply tells what nothing returned")
def _fact_added(subject: AuditSubject, rng: Random) -> Sample | None:
    (at, turn, _), fact = (
        pick(_replies(subject), rng),
        pick(subject.word_lists.get("wrong_facts", []), rng),
    )
    return _with_reply(subject, at, f"{turn.text} {fact}")


@injects("fact_left_out", "the reply lacks something that was asked for")
def _fact_left_out(subject: AuditSubject, rng: Random) -> Sample | None:
    """Remove a sentence that states a fact."""
    options = [
        (at, turn.text, found.span())
        for at, turn, _ in _replies(subject)
        for found in _SENTENCE.finditer(turn.text)
        if _FACT.search(found.group())
    ]
    at, text, (start, end) = pick(options, rng)
    left = (text[:start] + text[end:]).strip()
    return _with_reply(subject, at, left) if left else None


def _outcome_turned(name: str, *, of_failure: bool) -> Injection:
    """Return an injection that reports a failure as a success, or the other way round."""

    def inject(subject: AuditSubject, rng: Random) -> Sample | None:
        found = [
            at
            for at, _, results in _replies(subject)
            if any(isinstance(result, dict) and _ERROR in result for result in results)
            is of_failure
        ]
        at, text = pick(found, rng), pick(subject.word_lists.get(name, []), rng)
        return _with_reply(subject, at, text)

    return inject


@injects("reply_of_other", "the reply is that of another sample")
def _reply_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    at, turn, _ = pick(_replies(subject), rng)
    others = [
        one.text
        for one in subject.pool.questions.get(subject.sample.language, [])
        if one.text != turn.text
    ]
    return _with_reply(subject, at, pick(others, rng))


@injects("act_changed", "a reply has another dialogue act")
def _act_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    replies = [
        (at, turn)
        for at, turn in enumerate(subject.sample.turns)
        if isinstance(turn, ReplyTurn) and turn.acts
    ]
    at, turn = pick(replies, rng)
    other = rng.choice([act for act in get_args(DialogueAct) if act not in turn.acts])
    return with_turn(subject.sample, at, turn.with_changes(acts=(other, *turn.acts[1:])))


def _messages(subject: AuditSubject) -> list[tuple[int, UserTurn, Message]]:
    return [
        (at, turn, turn.external) for at, turn in subject.user_turns if turn.external is not None
    ]


def _with_message(subject: AuditSubject, at: int, message: Message) -> Sample:
    """Return the sample with another message, its evidence moved to the same words or dropped."""
    turn = subject.sample.turns[at]
    if not isinstance(turn, UserTurn):
        return subject.sample

    def moved(evidence: Evidence) -> Evidence | None:
        if evidence.turn != at or not evidence.in_message:
            return evidence
        start = message.text.find(evidence.quote)
        if start >= 0:
            return evidence.with_changes(start=start, end=start + len(evidence.quote))
        return None

    return with_evidence(with_turn(subject.sample, at, turn.with_changes(external=message)), moved)


@injects("message_of_other", "the message is that of another sample")
def _message_of_other(subject: AuditSubject, rng: Random) -> Sample | None:
    at, _, message = pick(_messages(subject), rng)
    others = [
        one
        for one in subject.pool.messages.get(subject.sample.language, [])
        if one.text != message.text
    ]
    return _with_message(subject, at, pick(others, rng))


@injects("app_changed", "the message came by another app than the user says")
def _app_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    at, _, message = pick(_messages(subject), rng)
    apps = {one.app for one in subject.pool.messages.get(subject.sample.language, [])} - {
        message.app
    }
    return _with_message(subject, at, message.with_changes(app=pick(sorted(apps), rng)))


@injects("sender_changed", "the message is from somebody else than the user says")
def _sender_changed(subject: AuditSubject, rng: Random) -> Sample | None:
    (at, _, message), sender = (
        pick(_messages(subject), rng),
        pick(subject.word_lists.get("senders", []), rng),
    )
    text = f"{message.text}\n{sender[0].upper()}{sender[1:]}"
    return _with_message(subject, at, message.with_changes(text=text))


@injects("message_without_value", "the message does not have the value")
def _message_without_value(subject: AuditSubject, rng: Random) -> Sample | None:
    options = [
        (at, message, evidence.quote)
        for at, _, message in _messages(subject)
        for _, turn in subject.call_turns
        for call in turn.calls
        for evidence in call.evidence
        if evidence.turn == at and evidence.in_message and evidence.quote in message.text
    ]
    at, message, quote = pick(options, rng)
    return _with_message(subject, at, message.with_changes(text=message.text.replace(quote, "")))


@injects("message_missing", "the message is missing")
def _message_missing(subject: AuditSubject, rng: Random) -> Sample | None:
    at, turn, _ = pick(_messages(subject), rng)
    left = with_evidence(
        subject.sample, lambda one: None if one.turn == at and one.in_message else one
    )
    return with_turn(left, at, turn.with_changes(external=None))


INJECTORS = (
    injects("user_turn_removed", "a turn of the user is missing")(_without("user")),
    injects("call_turn_removed", "the calls of a turn are missing, and the turn with them")(
        _without("calls", "result")
    ),
    injects("result_turn_removed", "what calls returned is missing")(_without("result")),
    injects("reply_removed", "a turn of the assistant is missing")(_without("reply", "user")),
    _exchange_removed,
    _turns_exchanged,
    _question_exchanged,
    _response_altered,
    _response_of_other,
    _results_exchanged,
    _fact_changed,
    _name_changed,
    _fact_added,
    _fact_left_out,
    injects("error_told_as_success", "a call failed, and the reply says that it is done")(
        _outcome_turned("successes", of_failure=True)
    ),
    injects("success_told_as_error", "calls succeeded, and the reply says that they failed")(
        _outcome_turned("failures", of_failure=False)
    ),
    _reply_of_other,
    _act_changed,
    _message_of_other,
    _app_changed,
    _sender_changed,
    _message_without_value,
    _message_missing,
)
