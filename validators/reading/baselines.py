"""Two readers by code that cost nothing, as baselines for every reader that is measured.

One matches strings and understands nothing. The other does not look at the request at all. A
reader that is not clearly better than both is not reading.
"""

import re
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from callwright.generators.stages import StageContext
from callwright.generators.transcripts import user_texts
from callwright.language.names import function_words
from callwright.language.schemas import choices_of, json_type, scalars
from callwright.language.text import fold
from callwright.validators.reading.points import Calls, DuePoint
from callwright.validators.reading.writing import BlindReader
from callwright.warehouse.records import Call, JsonSchema, Reading, Sample, Tool, Vote
from callwright.warehouse.shown_tools import without_examples

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_NAME = re.compile(r"\"([^\"]+)\"|\b([A-Z][\w-]*(?: [A-Z][\w-]*)*|[A-Za-z]*\d[\w-]*)")


async def _match(point: DuePoint, _sample: Sample, _context: StageContext) -> Reading:
    """Return a call of the tool with most words in the request, with fitting strings from it."""
    said = " ".join(user_texts(point.prefix))
    tool = max(point.tools.values(), key=lambda one: (_overlap(one, said), one.name), default=None)
    calls: Calls = (Call(tool=tool.name, arguments=_matched(tool, said)),) if tool else ()
    return Reading(turn=point.turn, calls=calls, instead=None if calls else "none")


def _overlap(tool: Tool, said: str) -> int:
    words = {*function_words(tool.name), *tool.description.lower().split(), *tool.properties}
    return len(words.intersection(said.lower().split()))


def _matched(tool: Tool, said: str) -> dict[str, JsonValue]:
    numbers = [float(one) for one in _NUMBER.findall(said)]
    names = [quoted or plain for quoted, plain in _NAME.findall(said)]
    arguments: dict[str, JsonValue] = {}
    for name, schema in tool.properties.items():
        value = _first(schema, said, numbers, names)
        if value is not None:
            arguments[name] = value
    return arguments


def _first(schema: JsonSchema, said: str, numbers: list[float], names: list[str]) -> JsonValue:
    """Return and consume the first string of a schema's type, or None if there is none."""
    if choices := choices_of(schema):
        return next((one for one in choices if fold(str(one)) in fold(said)), None)  # type: ignore[return-value]
    match json_type(schema):
        case "integer" | "number" as kind:
            number = numbers.pop(0) if numbers else None
            return number if number is None or kind == "number" else int(number)
        case "string":
            return names.pop(0) if names else None
    return None


async def _settle_by_strings(
    point: DuePoint, written: Reading, _sample: Sample, _context: StageContext
) -> tuple[Vote, ...]:
    """Vote for the calls with the larger share of values in the words; on a tie, the first."""
    said = fold(" ".join(user_texts(point.prefix)))
    gold, other = _standing(point.calls, said), _standing(written.calls, said)
    if gold == other:
        return ("gold", "written")
    return ("gold", "gold") if gold > other else ("written", "written")


def _standing(calls: Iterable[Call], said: str) -> float:
    values = [fold(str(one)) for call in calls for one in scalars(call.arguments)]
    return sum(one in said for one in values) / len(values) if values else 0.0


async def _guess(point: DuePoint, _sample: Sample, _context: StageContext) -> Reading:
    """Return a call of the first tool, with values that its schema offers for what it requires."""
    tool = next(map(without_examples, point.tools.values()), None)
    arguments = (
        {name: _offered(tool.properties.get(name, {})) for name in tool.required} if tool else {}
    )
    kept = {name: value for name, value in arguments.items() if value is not None}
    calls: Calls = (Call(tool=tool.name, arguments=kept),) if tool else ()
    return Reading(turn=point.turn, calls=calls, instead=None if calls else "none")


def _offered(schema: JsonSchema) -> JsonValue:
    default = (schema["default"],) if "default" in schema else ()
    offered: Sequence[object] = (*default, *choices_of(schema), *(schema.get("examples") or ()))
    return next(iter(offered), None)  # type: ignore[return-value]


async def _settle_unread(
    point: DuePoint, written: Reading, _sample: Sample, _context: StageContext
) -> tuple[Vote, ...]:
    """Vote for the calls with more arguments, as golds mostly have; on a tie, the first shown."""
    gold, written_count = (
        sum(len(call.arguments) for call in calls) for calls in (point.calls, written.calls)
    )
    if gold == written_count:
        return ("gold", "written")
    return ("gold", "gold") if gold > written_count else ("written", "written")


BASELINES = (
    BlindReader(_match, _settle_by_strings, "baseline: matches strings"),
    BlindReader(_guess, _settle_unread, "baseline: does not read"),
)
