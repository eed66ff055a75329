"""Whether an assistant asks back for what is missing: the parameters that its questions mean.

A question means those that it names ("Which city is it?"), describes ("What type of seat?" for
`seat_type`), offers choices of ("Economy or business?"), or asks for by a question word ("When
would you like to leave?" for the one date that is missing).
"""

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from pydantic import JsonValue

from callwright.language.calls.tools import ParameterView, ToolView, view_of
from callwright.language.packs import LanguagePattern, widened
from callwright.language.schemas import choices_of
from callwright.language.text import STOP, negations
from callwright.language.values import locate
from callwright.language.wording import content_keys
from callwright.warehouse.records import JsonSchema, Tool

_SENTENCE = re.compile(widened(r"@[^?!.\n]+@[?!.]*"))
_ASKS = LanguagePattern(r"@[?]|@{assistant_asks}|@{asking}")
_LISTS = LanguagePattern(r"@[,;]|@{enumerates}|@{list_joint}")
_PIECES = LanguagePattern(r"@[,;:]|@{enumerates}|/|@{first_clause_end}|@{list_joint}")
_LONGEST = 2000  # characters: who writes more asks nothing that anybody could answer
_OFFERED = 2  # choices of a parameter: a question that has so many offers them
# The kinds of parameters that a question word asks for, by the cue of the languages.
_BY_KIND = {
    "asks_when": {"date", "time", "moment", "month", "year", "birthday"},
    "asks_where": {"place", "address", "country", "origin", "destination", "airport"},
    "asks_who": {"person", "company"},
    "asks_how_many": {"number", "quantity", "money", "age", "duration", "measure", "percent"},
}
_CUES = {cue: LanguagePattern(f"@{{{cue}}}") for cue in _BY_KIND}


def asks_for_missing(text: str, tool: Tool, given: Mapping[str, JsonValue]) -> bool:
    """Whether a text asks for a required parameter that is not `given`, and for none that is.

    A given parameter may be named beside its value ("your flight LH 400") or beside one that is
    missing, unless both are listed: who asks for everything asks for what was said, too.
    """
    missing = [name for name in tool.required if name not in given]
    if not missing or len(text) > _LONGEST:
        return False
    view = view_of(tool.signature)
    asked, again = set[str](), set[str]()
    for sentence in _SENTENCE.findall(text):
        if _ASKS.of(sentence).search(sentence):
            meant = {*_named(view, sentence), *_described(view, sentence)}
            new = meant - given.keys() if meant else {*_by_kind(view, sentence, missing)}
            asked |= new
            is_mention = new and not _LISTS.of(sentence).search(sentence)
            again |= set() if is_mention else meant & given.keys()
    return not asked.isdisjoint(missing) and all(
        _says(text, given[name], tool.properties.get(name, {})) for name in again
    )


def _says(text: str, value: JsonValue, schema: JsonSchema) -> bool:
    return not isinstance(value, bool) and locate(value, schema, text) is not None


def _named(view: ToolView, sentence: str) -> Iterator[str]:
    """Yield the parameters that a sentence mentions by what they are called."""
    for match in view.table.pattern.finditer(sentence) if view.table else ():
        yield view.parameters[view.table.owner(match.group())].name if view.table else ""


def _described(view: ToolView, sentence: str) -> Iterator[str]:
    """Yield the parameters of which a sentence has all words of a title, or several choices."""
    said = _keys(sentence)
    for one in view.parameters:
        pieces = _PIECES.of(sentence).split(str(one.schema.get("description") or ""))
        titles = (*one.titles, pieces[0])
        choices = {_keys(str(choice)) for choice in (*choices_of(one.schema), *pieces[1:])}
        offered = sum(bool(words) and words <= said for words in choices)
        if offered >= _OFFERED or any(words and words <= said for words in map(_keys, titles)):
            yield one.name


@lru_cache(8192)
def _keys(words: str) -> frozenset[str]:
    dropped = {STOP, *negations()}
    return frozenset(key.deep for key in content_keys(words) if key.light not in dropped)


def _by_kind(view: ToolView, sentence: str, missing: Collection[str]) -> Iterator[str]:
    """Yield the missing parameters of the kinds that a sentence's question words ask for."""
    cues = [cue for cue, pattern in _CUES.items() if pattern.of(sentence).search(sentence)]
    kinds = set[str]().union(*(_BY_KIND[cue] for cue in cues))
    yield from (one.name for one in view.parameters if one.name in missing and _kind(one) in kinds)


def _kind(parameter: ParameterView) -> str:
    return "number" if parameter.is_number else parameter.kind
