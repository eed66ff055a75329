"""An environment that remembers its answers, and returns them without the entries that were struck."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from generators.environments.protocol import Answer, Environment
from generators.paths.picking import value_at
from warehouse.records import Call, Exchange, Link, Strike, Tool


class RememberedEnvironment:
    """Asks `environment` once for each call; what was struck from the response to a call is left out of it."""

    def __init__(self, environment: Environment, recorded: Iterable[tuple[Call, JsonValue]] = ()) -> None:
        """Answer the calls of `recorded` by their stored responses."""
        self._environment = environment
        self._answers = {call.key: Answer(response) for call, response in recorded}
        self._strikes: Mapping[str, Sequence[Strike]] = {}

    @property
    def name(self) -> str:
        """The name of the environment that answers."""
        return self._environment.name

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Its tools."""
        return self._environment.tools

    @property
    def links(self) -> tuple[Link, ...]:
        """Its links."""
        return self._environment.links

    def struck(self, path: Sequence[Exchange], strikes: Sequence[Strike]) -> "RememberedEnvironment":
        """The same environment, without the entries struck from the responses to these calls of `path`."""
        one = RememberedEnvironment(self._environment)
        one._answers = self._answers
        by_call: dict[str, list[Strike]] = {}
        for strike in strikes:
            by_call.setdefault(path[strike.step].calls[strike.call].key, []).append(strike)
        one._strikes = by_call
        return one

    async def answer(self, call: Call) -> Answer:
        """The response to a call without what was struck, never an exception."""
        key = call.key
        if key not in self._answers:
            self._answers[key] = await self._environment.answer(call)
        answer = self._answers[key]
        strikes = self._strikes.get(key)
        return Answer(strike_out(answer.response, strikes), answer.problem) if strikes else answer


def strike_out(response: JsonValue, strikes: Sequence[Strike]) -> JsonValue:
    """A response without the entries that were struck; the rest of it is shared with the original."""
    by_list: dict[str, set[int]] = {}
    for strike in strikes:
        by_list.setdefault(strike.entries, set()).add(strike.entry)
    for entries, gone in by_list.items():
        held = value_at(response, entries)
        if isinstance(held, list):
            kept: list[JsonValue] = [member for index, member in enumerate(held) if index not in gone]
            response = _replaced(response, _pieces(entries), kept)
    return response


def original_index(index: int, gone: Iterable[int]) -> int:
    """Where the entry stood that is at `index` now that those of `gone` were struck."""
    for struck in sorted(gone):
        if struck <= index:
            index += 1
    return index


def _pieces(path: str) -> list[str]:
    return [piece for piece in path.replace("[", ".").replace("]", "").split(".") if piece]


def _replaced(value: JsonValue, pieces: list[str], new: JsonValue) -> JsonValue:
    if not pieces:
        return new
    head, *rest = pieces
    if isinstance(value, dict):
        return {**value, head: _replaced(value[head], rest, new)}
    if isinstance(value, list):
        return [_replaced(one, rest, new) if index == int(head) else one for index, one in enumerate(value)]
    return value
