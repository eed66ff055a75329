"""A dialogue as the opening and the questions with their answers, to be put together in another way."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from language.text import VERBATIM
from language.values import locate
from warehouse.records import (
    Arguments,
    CallTurn,
    Evidence,
    GoldCall,
    Language,
    Message,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
)

_OPENING = 2
_EXCHANGE = 3
_ENDED = re.compile(r"[.?!…。？！~～]['\"”’」』）)]*$")
_ASKS = re.compile(
    r"^\W*(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|can|could|would|will|shall|should|may"
    r"|have|has)\b|什么|哪|多少|几|谁|吗|呢$|怎么|如何",
    re.IGNORECASE,
)
_NOD = re.compile(
    r"^(?:(?:sure|ok|okay|of course|happy to|alright)[.,!]\s+|(?:好的?|嗯|没问题|当然)[，,。！]\s*)(?=\S)",
    re.IGNORECASE,
)
_STOPS: Mapping[Language, tuple[str, str]] = {"en": (".", "?"), "zh": ("。", "？")}
_EMPTY: tuple[JsonValue, ...] = (None, "", [], {})


class Opening(NamedTuple):
    """The request and what is known after it."""

    turns: tuple[Turn, ...]
    snapshot: CallTurn


class Exchange(NamedTuple):
    """A question, its answer, what the answer tells, and where it tells it: the spans count from the answer's start."""

    question: str
    answer: str
    external: Message | None
    told: Arguments
    evidence: tuple[Evidence, ...]


class Dialogue(NamedTuple):
    """A request that was gone on with by questions and answers until the call was complete."""

    tool: Tool
    opening: Opening
    exchanges: tuple[Exchange, ...]


class Joined(NamedTuple):
    """Several answers as one text, and where in it each of them begins."""

    text: str
    starts: tuple[int, ...]


def split_dialogue(sample: Sample, tools: Mapping[str, Tool]) -> Dialogue | str:
    """The parts of a dialogue; a sentence where the sample is none that could be taken apart."""
    turns = sample.turns
    opening = turns[:_OPENING]
    match opening:
        case (UserTurn(), CallTurn(calls=(call,), executed=False) as snapshot):
            pass
        case _:
            return "It does not open with a request for one call."
    tool = next((tools[key] for key in sample.candidates if key in tools and tools[key].name == call.tool), None)
    if tool is None:
        return f"The tool {call.tool!r} is not among the candidates."
    exchanges: list[Exchange] = []
    known = _filled(call.arguments)
    for start in range(_OPENING, len(turns), _EXCHANGE):
        exchange = _exchange(turns[start : start + _EXCHANGE], start + 1, known, tool)
        if isinstance(exchange, str):
            return exchange
        exchanges.append(exchange)
        known |= exchange.told
    first = snapshot.model_copy(update={"calls": (_proved(call, opening[0], tool),)})
    return Dialogue(tool, Opening((opening[0], first), first), tuple(exchanges))


def join_questions(questions: Sequence[str], language: Language) -> str:
    """Several questions as one text."""
    return _joined(questions, language).text


def without_nod(exchange: Exchange) -> Exchange:
    """The exchange without the "Sure," that a question or an answer begins with: in the midst of others it is odd."""
    question = _capital(_NOD.sub("", exchange.question)) if _NOD.match(exchange.question) else exchange.question
    answer = _NOD.sub("", exchange.answer)
    by = len(answer) - len(exchange.answer)
    if any(one.start is not None and one.start + by < 1 and not one.in_message for one in exchange.evidence):
        return exchange._replace(question=question)  # the value begins where the capital would stand
    moved = tuple(_moved(one, one.turn or 0, by) for one in exchange.evidence)
    return exchange._replace(question=question, answer=_capital(answer) if by else answer, evidence=moved)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def join_answers(answers: Sequence[Exchange], language: Language) -> Joined:
    """Several answers as one text."""
    return _joined([one.answer for one in answers], language)


def snapshot_after(before: CallTurn, answered: Sequence[Exchange], starts: Sequence[int], turn: int) -> CallTurn:
    """What is known after these answers, which are said in the turn `turn` and begin there at `starts`."""
    call = before.calls[0]
    arguments = dict(call.arguments)
    proofs = {one.argument: one for one in call.evidence}
    for exchange, start in zip(answered, starts, strict=True):
        arguments |= exchange.told
        proofs |= {one.argument: _moved(one, turn, start) for one in exchange.evidence}
    return CallTurn(calls=(GoldCall(tool=call.tool, arguments=arguments, evidence=tuple(proofs.values())),))


def _exchange(turns: Sequence[Turn], user_turn: int, known: Arguments, tool: Tool) -> Exchange | str:
    match tuple(turns):
        case (
            ReplyTurn(text=question),
            UserTurn(text=answer, external=message),
            CallTurn(calls=(call,), executed=False),
        ):
            pass
        case _:
            return f"The turns from {user_turn - 1} on are no question with its answer and one call that is due."
    arguments = _filled(call.arguments)
    if call.tool != tool.name:
        return f"After turn {user_turn} another tool is due, {call.tool!r}."
    changed = [name for name, value in known.items() if arguments.get(name) != value]
    if changed:
        return f"After turn {user_turn} the arguments {changed} are no longer what they were."
    told = {name: value for name, value in arguments.items() if name not in known}
    if not told:
        return f"The answer in turn {user_turn} tells nothing new."
    given = {one.argument: one for one in call.evidence if one.turn == user_turn}
    proofs = [given.get(name) or _found(name, answer, told, tool) for name in told]
    return Exchange(question.strip(), answer.rstrip(), message, told, tuple(one for one in proofs if one is not None))


def _proved(call: GoldCall, request: Turn, tool: Tool) -> GoldCall:
    """The call with evidence from the request for each argument, as far as the request says it."""
    text = request.text if isinstance(request, UserTurn) else ""
    given = {one.argument: one for one in call.evidence}
    arguments = _filled(call.arguments)
    proofs = [given.get(name) or _found(name, text, arguments, tool) for name in arguments]
    return call.with_changes(evidence=tuple(one.with_changes(turn=one.turn or 0) for one in proofs if one is not None))


def _found(name: str, text: str, arguments: Arguments, tool: Tool) -> Evidence | None:
    """Where a text says an argument that nobody has pointed at yet, None where it does not."""
    found = locate(arguments[name], {"title": name, **tool.properties.get(name, {})}, text)
    if found is None:
        return None
    return Evidence(
        argument=name,
        kind="span" if found.rule == VERBATIM else "normalised",
        start=found.start,
        end=found.end,
        quote=text[found.start : found.end],
        rule=found.rule,
    )


def _moved(evidence: Evidence, turn: int, by: int) -> Evidence:
    if evidence.in_message or evidence.start is None or evidence.end is None:
        return evidence.with_changes(turn=turn)
    return evidence.with_changes(turn=turn, start=evidence.start + by, end=evidence.end + by)


def _joined(parts: Sequence[str], language: Language) -> Joined:
    text = ""
    starts: list[int] = []
    for part in parts:
        text = f"{_ended(text, language)} " if text else text
        starts.append(len(text))
        text += part
    return Joined(text, tuple(starts))


def _ended(text: str, language: Language) -> str:
    if _ENDED.search(text):
        return text
    stop, mark = _STOPS[language]
    last = re.split(r"[.?!。？！]\s*", text)[-1]
    return text + (mark if _ASKS.search(last) else stop)


def _filled(arguments: Arguments) -> Arguments:
    """The arguments without those that imported labels leave empty."""
    return {name: value for name, value in arguments.items() if value not in _EMPTY}
