"""What samples of two data sets share: tools, calls, or requests in other words.

Tools are the same if their parameters are (names without case and signs, types, choices, which
are required) and there are at least two of them, or the tools' own names are the same too. Calls
are the same if their arguments are, and their tools have the same name or schema. Requests are
the same if they state the same numbers and are alike: the mean of the letter sequences that they
share and of the cosine of their sentence embeddings.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson
from pydantic import JsonValue

from callwright.validators.checks.duplicates import mask_values, shared_grams
from callwright.validators.embeddings import vectors_of
from callwright.warehouse.batches import batches
from callwright.warehouse.records import GoldCall, Sample, Tool, UserTurn, content_key

Common = Literal["tool", "call", "request"]
COMMON: tuple[Common, ...] = ("tool", "call", "request")
WORDS: Mapping[Common, str] = {
    "tool": "the same tool",
    "call": "the same call",
    "request": "the same request",
}
LIKENESS = 0.6  # what it finds and misses is told in docs/sources.md
_NEAR = 0.7  # below this cosine nothing is compared letter by letter
AT_ONCE = 500


class PlacedSample(NamedTuple):
    """A sample, its tools, and its location: the place in a file, or its key."""

    place: str
    sample: Sample
    tools: Sequence[Tool]


class Match(NamedTuple):
    """What a sample shares with the one at `place` of the other side, and how alike they are."""

    how: Common
    place: int
    likeness: float


class _Compared(NamedTuple):
    prints: Mapping[Common, frozenset[str]]
    text: str
    numbers: frozenset[str]


class OverlapIndex:
    """One side of the comparison, in memory: about 3 kB per sample."""

    def __init__(
        self,
        samples: Iterable[PlacedSample],
        likeness: float = LIKENESS,
        hows: Sequence[Common] = COMMON,
    ) -> None:
        """Requests are the same from `likeness` up; only the kinds in `hows` are looked for."""
        self.places: list[str] = []
        self.requests: list[str] = []
        self._hows, self._likeness = hows, likeness
        self._by_print: dict[tuple[Common, str], list[int]] = defaultdict(list)
        self._compared: list[_Compared] = []
        self._parts: list[Any] = []  # vectors of some hundreds each: the encoder's own type
        for some in batches(samples, AT_ONCE):
            for at, compared_sample in enumerate(
                compared := list(map(_compare, some)), len(self.places)
            ):
                for how, prints in compared_sample.prints.items():
                    for found in prints:
                        self._by_print[how, found].append(at)
            self.places += [one.place for one in some]
            self.requests += [one.sample.request for one in some]
            self._compared += [one._replace(prints={}) for one in compared]
            if "request" in hows:
                self._parts.append(vectors_of([one.text for one in compared]))

    def __len__(self) -> int:
        return len(self.places)

    def find(self, samples: Sequence[PlacedSample]) -> list[list[Match]]:
        """Return for each sample of the other side the matches on this side, nearest first."""
        compared = list(map(_compare, samples))
        all_matches = [
            [
                Match(how, place, 1.0)
                for how, mine in one.prints.items()
                if how in self._hows
                for place in {
                    place for found in mine for place in self._by_print.get((how, found), ())
                }
            ]
            for one in compared
        ]
        if "request" in self._hows and samples:
            vectors, begin = vectors_of([one.text for one in compared]), 0
            for part in self._parts:
                near = vectors @ part.T
                for row, column in zip(*(near >= _NEAR).nonzero(), strict=True):
                    one, other, alike = compared[row], self._compared[begin + column], 0.0
                    if one.numbers == other.numbers and one.text and other.text:
                        alike = (shared_grams(one.text, other.text) + float(near[row, column])) / 2
                    if alike >= self._likeness:
                        all_matches[row].append(
                            Match("request", begin + int(column), round(alike, 3))
                        )
                begin += len(part)
        return [
            sorted(matches, key=lambda one: (-one.likeness, one.place)) for matches in all_matches
        ]


def _compare(one: PlacedSample) -> _Compared:
    shown = {tool.name: tool for tool in one.tools}
    calls = [turn.calls for _, turn in one.sample.call_turns if turn.calls]
    called = {call.tool for made in calls for call in made}
    text = "\n".join(turn.text for turn in one.sample.turns if isinstance(turn, UserTurn))
    tools = frozenset(
        found for name in called if name in shown for found in _tool_prints(shown[name])
    )
    made_alike = frozenset(found for made in calls for found in _call_prints(made, shown))
    prints: dict[Common, frozenset[str]] = {"tool": tools, "call": made_alike}
    return _Compared(prints, text, mask_values([text], []).other_numbers)


def _tool_prints(tool: Tool) -> Iterator[str]:
    """Yield the fingerprints of equal tools: parameters, with the tool's name if there are few."""
    schema = _schema(tool)
    yield from (content_key([name, schema]) for name in _names(tool.name))
    if len(tool.properties) > 1:
        yield content_key(schema)


def _schema(tool: Tool) -> JsonValue:
    parameters = sorted(
        (
            _folded(name),
            str(schema.get("type", "")),
            sorted(map(str, schema.get("enum") or ())),
            name in tool.required,
        )
        for name, schema in tool.properties.items()
    )
    return [
        [name, kind, [*choices], is_required] for name, kind, choices, is_required in parameters
    ]


def _call_prints(calls: Sequence[GoldCall], shown: Mapping[str, Tool]) -> Iterator[str]:
    """Yield the fingerprints that equal sets of calls share, by tool names and by schemas."""
    if not all(call.arguments for call in calls):
        return
    plain_arguments = [
        {_folded(name): _plain(value) for name, value in call.arguments.items()} for call in calls
    ]
    name_lists: list[list[JsonValue]] = [
        [_folded(call.tool) for call in calls],
        [min(_names(call.tool), key=len) for call in calls],
        [_schema(shown[call.tool]) for call in calls if call.tool in shown],
    ]
    for named in (one for one in name_lists if len(one) == len(calls)):
        parts = zip(named, plain_arguments, strict=True)
        yield content_key(
            [*sorted(orjson.dumps(part, option=orjson.OPT_SORT_KEYS).decode() for part in parts)]
        )


def _folded(name: str) -> str:
    """Return a name without case and signs."""
    return "".join(sign for sign in name.casefold() if sign.isalnum()) or name


def _names(tool: str) -> set[str]:
    """Return a tool's name and its last part.

    `Weather.get_weather`, `Weather_get_weather` and `getWeather` have one in common.
    """
    return {_folded(tool), _folded(tool.rpartition(".")[2])}


def _plain(value: JsonValue) -> JsonValue:
    """Return a value without case, and a number without its type."""
    match value:
        case str():
            return " ".join(value.casefold().split())
        case bool() | None:
            return value
        case int() | float():
            return float(value)
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {name: _plain(one) for name, one in value.items()}
