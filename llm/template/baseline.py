"""The call that words ask for, plainly read: the tool by its words, each value where it is called or alone of its type.

It may be wrong: it is what a candidate is measured against, and nothing rests on it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.frames import shapes_in
from callwright.language.calls.parameters import CLOCKED, short_forms
from callwright.language.calls.tools import ParameterView, ToolView, squeeze
from callwright.language.names import split_name
from callwright.language.packs import known, language_of, of, signs, widened
from callwright.language.schemas import fits, json_type
from callwright.language.text import deep_stem
from callwright.language.values import locate, read_value
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.questions import asked_parameters
from callwright.llm.template.sections import Turn
from callwright.llm.template.stating import requests_in
from callwright.warehouse.records import Language

SECTIONS = (
    "requests", "dialogues", "corrections", "external", "routing", "parallel", "conversations", "assistant.openers",
)  # fmt: skip
_OPENED, _CLOSED = widened(r"@[\s\"“«'{open}]*"), widened(r"@[\"”»'{close}]*")


@lru_cache(4096)
def _cues_of(name: str, spoken: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (*spoken, *short_forms(name)))))


def cues(parameter: ParameterView) -> tuple[str, ...]:
    """All that a parameter is called."""
    spoken = (*parameter.cues.spoken, *parameter.cues.by_script.values())
    return _cues_of(parameter.name, (*spoken, parameter.topic))


_SLOT = re.compile(r"\{\w\}")


class Links(NamedTuple):
    """What stands between what a parameter is called and its value, by which of them comes first; and routes."""

    behind: tuple[str, ...]
    before: tuple[str, ...]
    route: Mapping[str, tuple[str, ...]]


@lru_cache(16)
def links_of(language: Language) -> Links:
    """The links of all shapes of a language."""
    behind, before = dict[str, None](), dict[str, None]()
    for section in SECTIONS:
        for stated in shapes_in(language, section):
            for shape in (stated, of(language).rules.in_number(stated, "items")):
                cue, value = shape.lower().find("{c}"), shape.find("{v}")
                if 0 <= cue < value:
                    behind[shape[cue + 3 : value]] = None
                elif 0 <= value < cue and re.search(r"[^\W_]", shape[value + 3 : cue]):
                    before[shape[value + 3 : cue]] = None
    routes = requests_in(language).route
    starts = tuple(shape[: shape.find("{o}")] for shape in routes)
    ends = tuple(shape[shape.find("{o}") + 3 : shape.find("{d}")] for shape in routes)
    return Links(tuple(behind), tuple(before), {"origin": starts, "destination": ends})


class Calling(NamedTuple):
    """A place where a parameter is called, from `start` on: its value begins or ends `at` a place; surely where words tell so."""

    parameter: str
    start: int
    at: int
    is_behind: bool
    is_sure: bool


@lru_cache(4096)
def calls_in(view: ToolView, text: str, language: Language) -> tuple[Calling, ...]:
    """Where a text calls the parameters of a tool, in its order."""
    if view.cues is None:
        return ()
    behind, before = _link_patterns(language)
    found = list[Calling]()
    for called in view.cues.pattern.finditer(text):
        name = view.parameters[view.cues.owner(called[0])[0]].name
        after, ahead = behind.match(text, called.end()), before.search(text, 0, called.start())
        if ahead:
            found.append(Calling(name, called.start(), ahead.start(), is_behind=False, is_sure=True))
        elif after:
            found.append(Calling(name, called.start(), after.end(), is_behind=True, is_sure=bool(after[0].strip())))
    return tuple(found)


@lru_cache(16)
def _link_patterns(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    links = links_of(language)
    behind, before = ("|".join(_either(one)) or "(?!)" for one in (links.behind, links.before))
    return re.compile(rf"(?:{behind}){_OPENED}", re.IGNORECASE), re.compile(rf"{_CLOSED}(?:{before})$", re.IGNORECASE)


def _either(links: Sequence[str]) -> list[str]:
    return [
        r"\s*".join(map(re.escape, one.split())).join((r"\s*", r"\s*")) for one in sorted(links, key=len, reverse=True)
    ]


def is_called(parameter: ParameterView, text: str) -> bool:
    """Whether a text calls a parameter."""
    whole = squeeze(text)
    return any(squeeze(cue) in whole for cue in cues(parameter))


@lru_cache(16)
def taken_back(language: Language) -> re.Pattern[str]:
    """A value that is named only to say that it is not meant."""
    shapes = [one for one in shapes_in(language, "corrections") if "{o}" in one]
    asides = [one.replace("{v}", "{o}") for one in shapes_in(language, "conversations.asides")]
    spelled = [re.split(r"\{o\}", one) for one in (*shapes, *(one for one in asides if "{c}" not in one))]
    pieces = [(loosely(before), loosely(re.split(r"\{[cCv]\}", after)[0])) for before, after in spelled]
    return re.compile("|".join(rf"{before}(.{{1,80}}?){after}" for before, after in pieces), re.IGNORECASE)


def loosely(words: str) -> str:
    """An expression for these words, whatever space is between them."""
    return r"\s*".join(map(re.escape, words.split()))


@cache
def openers() -> tuple[str, ...]:
    """What people say before they ask for something else."""
    named = product(known(), ("assistant.openers", "conversations.switches"))
    return tuple(_SLOT.split(shape)[0].strip() for code, name in named for shape in shapes_in(code, name))


def without_thanks(text: str) -> str:
    """What is said before somebody thanks and says no more."""
    said = text.rstrip()
    thanks = (shape for code in known() for shape in shapes_in(code, "conversations.thanks"))
    return said.removesuffix(next(filter(said.endswith, thanks), "")).rstrip() or text


class Said(NamedTuple):
    """What the user says in one turn, with the question before it; new where nothing was returned since."""

    text: str
    question: str
    is_new: bool


def said_in(turns: Sequence[Turn]) -> tuple[Said, ...]:
    """What the user says in these turns, messages as well."""
    said, question, is_done, begins = list[Said](), "", False, 0
    for turn in turns:
        if turn.speaker in ("user", "message"):
            is_done = is_done or turn.text.startswith(openers())
            begins, is_done = (len(said), False) if is_done else (begins, False)
            said.append(Said(without_thanks(turn.text), question, is_new=True))
            question = ""
        elif turn.speaker == "assistant":
            is_done = is_done or any(one in turn.text for one in _refusals())
            question = "" if is_done else turn.text
        is_done = is_done or turn.speaker == "result"
    return tuple(one._replace(is_new=at >= begins) for at, one in enumerate(said))


@cache
def _refusals() -> tuple[str, ...]:
    """What an assistant says that can't do something: the longest piece of each shape."""
    named = product(known(), ("assistant.refusals", "conversations.refusals"))
    return tuple(max(_SLOT.split(shape), key=len) for code, name in named for shape in shapes_in(code, name))


@cache
def more_steps(language: Language) -> re.Pattern[str]:
    """What people say before they ask for something that needs what another call returns."""
    heads = [shape.split("{r}")[0].strip() for shape in shapes_in(language, "conversations.linked")]
    told = [re.sub(r"\\\{[cl]\\\}", ".{1,80}?", re.escape(head)) for head in heads]
    return re.compile("|".join(filter(None, told)) or "(?!)")


@lru_cache(8192)
def spoken_of(cue: str, language: Language) -> tuple[str, ...]:
    """A cue, and the pieces of shapes that it stands in: articles and verbs agree with it."""
    rules, pieces = of(language).rules, dict.fromkeys([cue])
    for section in SECTIONS:
        for shape in shapes_in(language, section):
            if "{c}" in shape or "{C}" in shape:
                agreed = rules.in_number(shape, cue).replace("{c}", cue).replace("{C}", cue)
                pieces |= dict.fromkeys(piece for piece in _SLOT.split(agreed) if cue in piece)
    return tuple(pieces)


_WORD = re.compile(r"[^\W_]+")
_FAINT = frozenset({"find", "get", "by", "of", "look", "up", "the", "for", "in", "to", "a", "an", "my", "and"})
_SURE, _LEAST = 0.75, 0.5
_CLAUSE_END = re.compile(widened(r"@[;!?\n]|@[.](?=\s|$)|@[{.,;!?}]|,(?=\s)"))
_OPENS, _CLOSES = frozenset(signs('"“«{open}')), re.compile(widened('@["“”«»{open}{close}]'))
_AROUND = signs(" \t\n\"'“”«»{open}{close}.,;:!?")
_LONGEST_TEXT, _MOST_TURNS = 4000, 100


def choose_tool(views: Sequence[ToolView], turns: Sequence[Turn]) -> ToolView | None:
    """The tool with whose words the latest turn that names one speaks; None where no tool shares half its words."""
    spoken = [turn.text[:_LONGEST_TEXT] for turn in turns if turn.speaker == "user"][-_MOST_TURNS:]
    anew = next((at for at in range(len(spoken) - 1, 0, -1) if spoken[at].startswith(openers())), 0)
    spoken = spoken[anew:]
    named = (_likeliest(views, text, _SURE) for text in reversed(spoken))
    return next(filter(None, named), None) or _likeliest(views, "\n".join(spoken), _LEAST)


def _likeliest(views: Sequence[ToolView], text: str, least: float) -> ToolView | None:
    said = text.lower()
    stems = {deep_stem(word) for word in _WORD.findall(said)}
    best, chosen = 0.0, views[0] if views else None
    for view in views:
        whole = max((len(key) for key in (*view.keys, *view.actions) if key.lower() in said), default=0)
        wanted = {deep_stem(word) for word in split_name(view.name.rpartition(".")[2])} - _FAINT
        share = len(wanted & stems) / len(wanted) if wanted else 0.0
        # more than all of the name where an action of the tool stands there whole
        if (likeness := 1.0 + whole / _LONGEST_TEXT if whole else share) > best:
            best, chosen = likeness, view
    return chosen if best >= least else None


def read_values(view: ToolView, turns: Sequence[Turn]) -> dict[str, JsonValue]:
    """The arguments that a conversation states, as far as they are called or alone of their type; what is said last holds."""
    stated: dict[str, JsonValue] = {}
    question = ""
    for turn in resolve_pointers(turns[-_MOST_TURNS:]):
        text = turn.text[:_LONGEST_TEXT]
        if turn.speaker == "assistant":
            question = text
        elif turn.speaker in ("user", "message"):
            stated |= _read_turn(view, text, question, stated)
            question = ""
    return {one.name: stated[one.name] for one in view.parameters if one.name in stated}


def _read_turn(view: ToolView, text: str, question: str, known: dict[str, JsonValue]) -> dict[str, JsonValue]:
    language = language_of(text)
    found = dict(_called(view, text, language))
    asked = asked_parameters(view, question, known) if question else ()
    if len(asked) == 1 and not found:
        value = _value(asked[0], text.strip(_AROUND))
        return {asked[0].name: value} if value is not None else {}
    left = [one for one in view.parameters if one.name not in found]
    return {**dict(_routed(left, text, language)), **dict(_typed(left, text, found)), **found}


def _called(view: ToolView, text: str, language: Language) -> Iterator[tuple[str, JsonValue]]:
    """The values that stand beside what their parameter is called; words that go on with what the tool does are none."""
    every = "|".join(map(re.escape, sorted(view.actions, key=len, reverse=True)))
    deeds = [found.span() for found in re.finditer(every, text, re.IGNORECASE)] if every else []
    callings = [
        one
        for one in calls_in(view, text, language)
        if not (one.is_behind and any(start <= one.start and one.at < end for start, end in deeds))
    ]
    for at, one in enumerate(callings):
        end = callings[at + 1].start if at + 1 < len(callings) else len(text)
        words = _behind(text, one.at, max(end, one.at)) if one.is_behind else _before(text, one.at)
        parameter, words = view.parameter(one.parameter), words.strip(_AROUND)
        first = words.partition(" ")[0]
        is_code = parameter.is_identifier and any(map(str.isdigit, first))
        value = _value(parameter, first if is_code else words)
        if value is not None and (one.is_sure or not _is_free(parameter) or not words[:1].islower()):
            yield one.parameter, value


def _is_free(parameter: ParameterView) -> bool:
    """Whether any words would do as a value."""
    is_typed = parameter.kind in CLOCKED or parameter.is_number or "enum" in parameter.schema
    return json_type(parameter.schema) in ("string", "array") and not is_typed


def _behind(text: str, start: int, end: int) -> str:
    """What stands from a place on: up to the mark that closes a quotation, else to the next sign."""
    if text[start - 1 : start] in _OPENS:
        return _CLOSES.split(text[start:])[0]
    joint = of(language_of(text)).last.strip()
    return re.sub(rf"\s{re.escape(joint)}\b.{{0,5}}$", "", _CLAUSE_END.split(text[start:end])[0].rstrip())


def _before(text: str, end: int) -> str:
    """What stands up to a place: from the mark that opens a quotation, else the last word."""
    if _CLOSES.match(text[end : end + 1]):
        return _CLOSES.split(text[:end])[-1]
    words = _CLAUSE_END.split(text[:end])[-1].split()
    named = next(
        (at for at in range(len(words)) if all(word[:1].isupper() or word[:1].isdigit() for word in words[at:])),
        len(words),
    )
    return " ".join(words[max(named, 1) :] or words[-1:])


def _value(parameter: ParameterView, words: str) -> JsonValue:
    """What words say for a parameter, None where its schema does not take it."""
    schema = {"title": parameter.name, **parameter.schema}
    value = read_value(words, parameter.spoken)
    if isinstance(value, int | float) and json_type(schema) == "string":
        value = str(value)
    return value if value is not None and fits(value, parameter.schema) else None


def _routed(left: Sequence[ParameterView], text: str, language: Language) -> Iterator[tuple[str, JsonValue]]:
    """The ends of a route, behind "from" and "to"."""
    leads = links_of(language).route
    every = "|".join(re.escape(lead) for ends in leads.values() for lead in ends if lead.strip())
    for one in left:
        own = "|".join(re.escape(lead) for lead in leads.get(one.kind, ()) if lead.strip())
        way = re.compile(rf"(?<![A-Za-z])(?:{own})(.+?)(?={every}|$)") if own else None
        found = next(filter(None, map(way.search, _CLAUSE_END.split(text))), None) if way else None
        if found and (value := _value(one, found[1].strip(_AROUND))) is not None:
            yield one.name, value


def _typed(left: Sequence[ParameterView], text: str, found: dict[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """The values that their type alone tells: the only day, the only number, a choice, a thing that is wanted or not."""
    taken = {str(value) for value in found.values()}
    for one in left:
        alike = [other for other in left if other.kind == one.kind]
        value: JsonValue = None
        if one.kind == "boolean":
            value = next((flag for flag in (True, False) if (locate(flag, one.schema, text) is not None)), None)
        elif one.schema.get("enum") or ((one.kind in CLOCKED or one.is_number) and len(alike) == 1):
            value = _value(one, text)
        if value is not None and str(value) not in taken:
            yield one.name, value
