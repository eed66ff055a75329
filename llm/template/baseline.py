"""The call that words ask for, plainly read: the tool by its words, each value where it is called or alone of its type.

It may be wrong: it is what a candidate is measured against, and nothing rests on it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise, product
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.frames import shapes_in
from callwright.language.calls.parameters import CLOCKED, short_forms
from callwright.language.calls.tools import ParameterView, ToolView, squeeze
from callwright.language.names import deed_of, function_words
from callwright.language.packs import COMMON_SCRIPT, known, language_of, of, script_of, signs, widened
from callwright.language.schemas import fits, json_type
from callwright.language.text import deep_stem
from callwright.language.values import locate, read_value
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.questions import asked_parameters, called
from callwright.llm.template.sections import Turn
from callwright.llm.template.stating import dialogues_in, requests_in
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
    leads: tuple[str, ...]  # what stands before a value that comes first
    route: Mapping[str, tuple[str, ...]]


@lru_cache(16)
def links_of(language: Language) -> Links:
    """The links of all shapes of a language."""
    behind, before, leads = dict[str, None](), dict[str, None](), dict[str, None]()
    for section in SECTIONS:
        for stated in shapes_in(language, section):
            for shape in (stated, of(language).rules.in_number(stated, "items")):
                cue, value = shape.lower().find("{c}"), shape.find("{v}")
                if 0 <= cue < value:
                    behind[shape[cue + 3 : value]] = None
                elif 0 <= value < cue and re.search(r"[^\W_]", shape[value + 3 : cue]):
                    before[shape[value + 3 : cue]] = None
                    leads |= dict.fromkeys(filter(None, [shape[:value].strip()]))
    routes = requests_in(language).route
    starts = tuple(shape[: shape.find("{o}")] for shape in routes)
    ends = tuple(shape[shape.find("{o}") + 3 : shape.find("{d}")] for shape in routes)
    return Links(tuple(behind), tuple(before), tuple(leads), {"origin": starts, "destination": ends})


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
    described = {squeeze(called(one, language)): one.name for one in view.parameters}
    found = list[Calling]()
    for called_so in _callings(view, language).finditer(text):
        words = called_so[0]
        name = described.get(squeeze(words)) or view.parameters[view.cues.owner(words)[0]].name
        start, end = called_so.span()
        after, ahead = behind.match(text, end), before.search(text, 0, start)
        if ahead:
            found.append(Calling(name, start, ahead.start(), is_behind=False, is_sure=True))
        elif after:
            found.append(Calling(name, start, after.end(), is_behind=True, is_sure=bool(after[0].strip())))
    return tuple(found)


@lru_cache(4096)
def _callings(view: ToolView, language: Language) -> re.Pattern[str]:
    """An expression for all that the parameters of a tool are called, whole descriptions of a few words before their heads."""
    described = sorted({called(one, language) for one in view.parameters}, key=len, reverse=True)
    return re.compile(
        "|".join((*map(_whole, described), view.cues.pattern.pattern if view.cues else "(?!)")), re.IGNORECASE
    )


def _whole(words: str) -> str:
    edge = r"\b" if script_of(words) == COMMON_SCRIPT else ""
    return rf"{edge}{loosely(words)}{edge}" if words else "(?!)"


@lru_cache(16)
def _link_patterns(language: Language) -> tuple[re.Pattern[str], re.Pattern[str]]:
    links = links_of(language)
    behind, before = ("|".join(_either(one)) or "(?!)" for one in (links.behind, links.before))
    return re.compile(rf"(?:{behind}){_OPENED}", re.IGNORECASE), re.compile(rf"{_CLOSED}(?:{before})$", re.IGNORECASE)


def _either(links: Sequence[str]) -> list[str]:
    return [
        r"\s*".join(map(re.escape, one.split())).join((r"\s*", r"\s*"))
        for one in sorted(links, key=lambda one: len("".join(one.split())), reverse=True)
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
_FAINT = frozenset({"by", "of", "up", "the", "for", "in", "to", "a", "an", "my", "and"})
_READS = frozenset({"list", "search", "look"})  # deeds that are asked for in each other's words
_SURE, _LEAST, _ABOUT = 0.75, 0.6, 0.5
_TELLING_VALUES = 2
_CLAUSE_END = re.compile(widened(r"@[;!?\n]|@[.](?=\s|$)|@[{.,;!?}]|,(?=\s)"))
_OPENS, _CLOSES = frozenset(signs('"“«{open}')), re.compile(widened('@["“”«»{open}{close}]'))
_ENDING = widened(r"@[\s.!{.!}]*")
_AROUND = signs(" \t\n\"'“”«»{open}{close}.,;:!?")
_LONGEST_TEXT, _MOST_TURNS = 4000, 100


def choose_tool(views: Sequence[ToolView], turns: Sequence[Turn]) -> ToolView | None:
    """The tool with whose words the latest turn that names one speaks; None where none shares more than half its words.

    What a tool is about is not enough, unless two of its values are said with it: who wants to extend a note does not ask
    for one to be created.
    """
    spoken = [turn.text[:_LONGEST_TEXT] for turn in turns if turn.speaker == "user"][-_MOST_TURNS:]
    anew = next((at for at in range(len(spoken) - 1, 0, -1) if spoken[at].startswith(openers())), 0)
    spoken = spoken[anew:]
    named = (_likeliest(views, text, _SURE) for text in reversed(spoken))
    chosen = next(filter(None, named), None) or _likeliest(views, "\n".join(spoken), _LEAST)
    if chosen is None and (about := _likeliest(views, "\n".join(spoken), _ABOUT)):
        # "I need a table for 4 at Blue Door" names no deed, yet says what booking one takes
        return about if len(read_values(about, [Turn("user", text) for text in spoken])) >= _TELLING_VALUES else None
    return chosen


def _likeliest(views: Sequence[ToolView], text: str, least: float) -> ToolView | None:
    said = text.lower()
    stems = _stems(said)
    best, chosen = 0.0, views[0] if views else None
    for view in views:
        whole = max((len(key) for key in (*view.keys, *view.actions) if key.lower() in said), default=0)
        named = (word for word in function_words(view.name) if word not in _FAINT)
        wanted = {"read" if deed_of(word) in _READS else deep_stem(word) for word in named}
        share = len(wanted & stems) / len(wanted) if wanted & stems - {"read"} else 0.0
        if least <= share and not whole:  # what calls a parameter, as the "booking number", names no deed
            share = len(wanted & _stems(_uncalled(view, said))) / len(wanted)
        # more than all of the name where an action of the tool stands there whole
        if (likeness := 1.0 + whole / _LONGEST_TEXT if whole else share) > best:
            best, chosen = likeness, view
    return chosen if best >= least else None


def _stems(said: str) -> set[str]:
    told = _WORD.findall(said)
    return {*map(deep_stem, told), *(["read"] if any(deed_of(word) in _READS for word in told) else [])}


def _uncalled(view: ToolView, text: str) -> str:
    """A text without the words that call parameters of a tool."""
    for one in reversed(calls_in(view, text, language_of(text))):
        start, end = (one.start, one.at) if one.is_behind else (one.at, one.start)
        text = f"{text[:start]} {text[max(end, start) :]}"
    return text


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
    plain, is_whole = _plain(view, text, language)
    if len(asked) == 1 and not found and (is_whole or not plain):
        return dict(_answered(asked, [text], language))
    found |= dict(_answered([one for one in asked if one.name not in found], plain, language))
    told = known if asked and found else ()  # what else stands in an answer is no new value for what was said before
    left = [one for one in view.parameters if one.name not in found and one.name not in told]
    return {**dict(_routed(left, text, language)), **dict(_typed(left, text, found)), **found}


_QUOTED = re.compile(widened(r'"[^"]*"|@[“«{open}].*?@[”»{close}]'))
_SENTENCE_END = re.compile(widened(r"(?<=[.!?])\s+(?=\S)|(?<=@[{.!?}])\s*(?=\S)"))


def _plain(view: ToolView, text: str, language: Language) -> tuple[list[str], bool]:
    """The sentences of an answer that call no parameter, the bare answers in their order; and whether these are all."""
    quoted = [one.span() for one in _QUOTED.finditer(text)]
    ends = [found.end() for found in _SENTENCE_END.finditer(text)]
    starts = [0, *(end for end in ends if not any(start < end < close for start, close in quoted)), len(text)]
    called_at = [one.start for one in calls_in(view, text, language) if one.is_sure]
    spans = [*pairwise(starts)]
    plain = [text[start:end] for start, end in spans if not any(start <= at < end for at in called_at)]
    return plain, len(plain) == len(spans)


def _answered(
    asked: Sequence[ParameterView], pieces: Sequence[str], language: Language
) -> Iterator[tuple[str, JsonValue]]:
    """What is asked for, each by the next piece that says a value for it, without what else an answer has."""
    left = [*pieces]
    for one in asked:
        for at, piece in enumerate(left):
            words = (inner.strip(_AROUND) for inner in _answers_in(piece.strip(), language))
            value = next((value for said in words if (value := _value(one, said)) is not None), None)
            if value is not None:
                yield one.name, value
                del left[: at + 1]
                break


def _answers_in(text: str, language: Language) -> Iterator[str]:
    """What an answer may have for its value: most words first that answers have around one, at last the whole."""
    for shape in _answer_shapes(language):
        if found := shape.fullmatch(text):
            yield found[1]
    yield text


@lru_cache(16)
def _answer_shapes(language: Language) -> tuple[re.Pattern[str], ...]:
    """The shapes of answers that do not say what they are for."""
    book = dialogues_in(language)
    shapes = {*book.bare, *chain.from_iterable(book.bare_by_kind.values())}
    telling = sorted((one for one in shapes if len(_WORD.findall(_SLOT.sub("", one)))), key=len, reverse=True)
    parts = (one.rstrip(_AROUND).partition("{v}") for one in telling)
    return tuple(
        re.compile(rf"{loosely(before)}\s*(.+?)\s*{loosely(after)}{_ENDING}", re.IGNORECASE | re.DOTALL)
        for before, _, after in parts
    )


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
    clause = _CLAUSE_END.split(text[:end])[-1]
    if lead := max(_leads(language_of(text)).finditer(clause), key=lambda found: found.end(), default=None):
        return clause[lead.end() :]
    words = clause.split()
    named = next(
        (at for at in range(len(words)) if all(word[:1].isupper() or word[:1].isdigit() for word in words[at:])),
        len(words),
    )
    return " ".join(words[max(named, 1) :] or words[-1:])


@lru_cache(16)
def _leads(language: Language) -> re.Pattern[str]:
    """What stands before a value that its parameter is called behind, "please take" in "please take rain as the reason"."""
    stated = (
        rf"(?<!\w){loosely(lead)}\s+" if script_of(lead) == COMMON_SCRIPT else loosely(lead)
        for lead in sorted(links_of(language).leads, key=len, reverse=True)
        if _SLOT.search(lead) is None
    )
    return re.compile("|".join(stated) or "(?!)", re.IGNORECASE)


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
