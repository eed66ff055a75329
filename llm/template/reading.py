"""The model as reader: from what was said and the tools shown to the calls that are due.

A request is recognised by the tools' own sentences, or else by the plain form. Any other text is
read as a page: the tool whose name shares most words with it, and the values that follow a name,
answer a question or are the only ones of their type. A page may be misread: candidates are
measured against it, and nothing relies on it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, pairwise
from typing import NamedTuple

from pydantic import JsonValue

from callwright.language.calls.parameters import CLOCKED
from callwright.language.calls.tools import ParameterView, ToolView, view_of
from callwright.language.names import deed_of, function_words
from callwright.language.packs import LanguagePattern, known, language_of, signs, widened
from callwright.language.pages import shapes_in
from callwright.language.text import QUOTED, deep_stem, outside_quotes
from callwright.language.values import locate, read_value
from callwright.llm.template.changing import is_typed, read_correction
from callwright.llm.template.defects import UNKNOWN, Proposal
from callwright.llm.template.messages import resolve_pointers
from callwright.llm.template.questions import asked_parameters
from callwright.llm.template.sections import Sections, Turn, is_equivalent
from callwright.llm.template.sentences import (
    SENTENCE_END,
    read_answer,
    read_sentence,
    recognise,
    value_of,
)
from callwright.llm.template.stating import unopened
from callwright.warehouse.records import Language

_LONGEST_TEXT, _MOST_TURNS = 4000, 100
_QUESTIONS = tuple(signs("?{?}"))


def read_call(views: Sequence[ToolView], turns: Sequence[Turn]) -> Proposal:
    """Return the one call that a conversation asks for so far, without a tool if none fits."""
    turns = resolve_pointers(turns)
    view = choose_tool(views, turns)
    return Proposal(None, {}) if view is None else Proposal(view.name, read_values(view, turns))


def read_plan(tools: Sequence[JsonValue], turns: Sequence[Turn]) -> list[Proposal]:
    """Return all calls that a message asks for, in order, preceded by calls that find values.

    Those find values that nobody states. If another message follows, return the calls of which
    it changes a value: these are wanted again.
    """
    user_turns = [one for one in resolve_pointers(turns) if one.speaker == "user"]
    returned = {view_of(tool): _returned(tool) for tool in tools}
    wishes = _wishes([*returned], user_turns[0].text) if user_turns else []
    plan, behind = list[Proposal](), _behind(wishes[-1]) if wishes else ""
    for at, wish in enumerate(wishes):
        first_values = read_values(wish.view, [Turn("user", wish.text)])
        if behind and at + 1 < len(wishes):
            first_values = _changed_by(wish.view, first_values, [Turn("user", behind)])
        final_values = _changed_by(wish.view, first_values, user_turns[1:])
        if user_turns[1:] and final_values == first_values:
            continue
        for name in (name for name in wish.view.required if name not in final_values):
            sources = [view for view, some in returned.items() if name in some]
            if not any(call.tool == view.name for call in plan for view in sources):
                plan += _lookups(sources, wish)[:1]
            final_values[name] = UNKNOWN
        plan.append(_call(wish.view, final_values))
    return plan


def _returned(tool: JsonValue) -> frozenset[str]:
    """Return the names of what a tool returns."""
    schema = tool.get("returns") if isinstance(tool, dict) else None
    members = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(members if isinstance(members, dict) else ())


def _behind(wish: "_Wish") -> str:
    """Return what is said after the sentence that asks."""
    found = read_sentence(wish.view, wish.text, language_of(wish.text))
    return found.rest if found else ""


def _changed_by(
    view: ToolView, told: dict[str, JsonValue], later: Sequence[Turn]
) -> dict[str, JsonValue]:
    """Return the values told so far as later turns change them, without new ones."""
    now = read_values(view, later, told)
    return {name: now.get(name, value) for name, value in told.items()}


def _lookups(views: Iterable[ToolView], wish: "_Wish") -> list[Proposal]:
    """Return the calls of the tools for which the words of a wish suffice."""
    told = ((view, read_values(view, [Turn("user", wish.text)])) for view in views)
    return [_call(view, one) for view, one in told if one and one.keys() >= {*view.required}]


def read_due(views: Sequence[ToolView], turns: Sequence[Turn]) -> list[Proposal]:
    """Return the calls of the latest request that lack nothing and were not made yet."""
    turns = resolve_pointers(turns)
    begin = next((at for at in range(len(turns) - 1, -1, -1) if _begins(turns, at)), 0)
    later = [
        one
        for one in turns[begin + 1 :]
        if one.speaker in ("user", "assistant") and not _is(one, "approvals")
    ]
    calls_made = [one.json() for one in turns if one.speaker == "call"]
    results = [one.json() for one in turns if one.speaker == "result"]
    due: list[Proposal] = []
    for wish in _wishes(views, turns[begin].text, later):
        arguments = read_values(wish.view, [Turn("user", wish.text), *later])
        if wish.cue and (found := _called(wish.view, wish.cue)):
            arguments |= next(
                ({name: one} for name, one in members(results[::-1]) if name == found.name), {}
            )
        due += [
            _call(wish.view, one)
            for one in (arguments, *_again(wish, arguments))
            if one.keys() >= {*wish.view.required}
        ]
    return [
        one for one in due if not any(is_equivalent(one._asdict(), call, {}) for call in calls_made)
    ]


def _call(view: ToolView, given: Mapping[str, JsonValue]) -> Proposal:
    return Proposal(view.name, {name: given[name] for name in view.properties if name in given})


def _begins(turns: Sequence[Turn], at: int) -> bool:
    """Whether a user's turn begins a request: it changes nothing and answers no question."""
    turn = turns[at]
    if turn.speaker != "user" or any(
        _is(turn, name) for name in ("approvals", "corrections", "retries")
    ):
        return False
    return not at or not _asks(turns[at - 1]) or turn.text.startswith(_openers())


def _is(turn: Turn, name: str) -> bool:
    """Whether the whole user turn matches a conversation shape of this name."""
    shapes = (
        _leads(language_of(turn.text), f"conversations.{name}") if turn.speaker == "user" else ()
    )
    return any(shape.fullmatch(turn.text) for shape in shapes)


def members(value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield all members of objects within a value, at any depth, by name."""
    for inner in value if isinstance(value, list) else ():
        yield from members(inner)
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield name, inner
        yield from members(inner)


def _again(wish: "_Wish", given: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Return the arguments once more for each of the other values listed."""
    parameter = _called(wish.view, wish.of_values) if wish.values else None
    items = {"type": "array", "items": parameter.schema} if parameter else {}
    values = read_value(wish.values, items) if parameter else None
    if parameter and isinstance(values, list):
        return [{**given, parameter.name: one} for one in values]
    return []


def _called(view: ToolView, cue: str) -> ParameterView | None:
    """Return the parameter that people call by this name, trying the required ones first."""
    ordered = sorted(view.parameters, key=lambda one: one.name not in view.required)
    return next((one for one in ordered if cue in {one.name, *one.titles}), None)


class _Wish(NamedTuple):
    """A requested tool with its words, values from a result, and values for repetitions."""

    view: ToolView
    text: str
    cue: str = ""
    values: str = ""
    of_values: str = ""


_SEVERAL = 2
_MARKS = ("", *signs(".!?{.!?}"))
_CUTS = (
    "conversations.joints",
    "conversations.linked",
    "conversations.more",
    "conversations.switches",
    "conversations.again",
    "parallel.leads",
)


def _wishes(views: Sequence[ToolView], text: str, later: Sequence[Turn] = ()) -> list[_Wish]:
    """Return what a message asks for, split where a phrase leads to another request."""
    language = language_of(text)
    text = reduce(
        lambda left, aside: aside.sub("", left),
        _leads(language, "conversations.asides"),
        text[:_LONGEST_TEXT],
    )
    lead_matches = sorted(
        (one for lead in _leads(language, *_CUTS) for one in lead.finditer(text)),
        key=lambda one: (one.start(), -one.end()),
    )
    wishes, at, cue = list[_Wish](), 0, ""
    for start, end, named in (
        *((*one.span(), one.groupdict()) for one in lead_matches),
        (len(text), len(text), {}),
    ):
        if start < at or text[at:start].rstrip()[-1:] not in _MARKS:  # only where a sentence begins
            continue
        asked = _asked(views, text[at:start].strip(), later, language)
        wishes += [_Wish(view, said, cue) for view, said in asked]
        at, cue = end, named.get("called") or ""
        if named.get("values") and wishes:
            wishes[-1], cue = wishes[-1]._replace(values=named["values"], of_values=cue), ""
    return wishes


def _asked(
    views: Sequence[ToolView], part: str, later: Sequence[Turn], language: Language
) -> list[tuple[ToolView, str]]:
    """Return the tools that a part of a message asks for, each with the sentences about it."""
    pieces, rest = list[tuple[ToolView | None, str]](), part
    while rest:
        view = recognise(views, rest, language)
        own = read_sentence(view, rest, language) if view else None
        piece = rest[: len(rest) - len(own.rest)] if own else _sentences(rest)[0]
        pieces.append((view, piece.strip()))
        rest = rest[len(piece) :].strip()
    is_page = not any(view for view, _ in pieces)
    if is_page:
        pieces = [(_likeliest(views, said), said) for _, said in pieces]
        if len({view for view, _ in pieces} - {None}) < _SEVERAL:
            chosen = choose_tool(views, [Turn("user", part), *later]) if part else None
            whole = _fullest(views, part, language, chosen)
            return [(whole, part)] if whole else []
    asked_tools: list[tuple[ToolView, str]] = []
    for view, piece in pieces:
        if view and not (is_page and asked_tools and asked_tools[-1][0] is view):
            asked_tools.append((view, piece))
        elif asked_tools:
            asked_tools[-1] = (asked_tools[-1][0], f"{asked_tools[-1][1]} {piece}")
    return asked_tools


def _fullest(
    views: Sequence[ToolView], said: str, language: Language, chosen: ToolView | None
) -> ToolView | None:
    """Return the tool for which a text names most values, among those that then lack none.

    The `chosen` tool stays unless another names more.
    """
    named = {view: named_values(view, said, language)[0].keys() for view in _asked_for(views, said)}
    if chosen is not None:
        named.setdefault(chosen, named_values(chosen, said, language)[0].keys())
    full = [view for view, names in named.items() if view.required and names >= {*view.required}]
    best = max(full, key=lambda view: len(named[view]), default=None)
    return best if best and len(named[best]) > (len(named[chosen]) if chosen else 0) else chosen


def choose_tool(views: Sequence[ToolView], turns: Sequence[Turn]) -> ToolView | None:
    """Return the tool of the latest turn that asks for one, None if none shares enough words."""
    spoken = [
        (turn.text[:_LONGEST_TEXT], _asks(before))
        for before, turn in pairwise([Turn("", ""), *turns])
        if turn.speaker == "user"
    ][-_MOST_TURNS:]
    found = (at for at in range(len(spoken) - 1, 0, -1) if spoken[at][0].startswith(_openers()))
    anew = next(found, 0)
    for text, is_answer in reversed(spoken[anew:]):
        view = recognise(views, text, language_of(text))
        # what an answer speaks of is asked for in the request before it
        if view is None and not is_answer:
            view = _likeliest(views, text)
        if view is not None:
            return view
    return _likeliest(views, "\n".join(text for text, _ in spoken[anew:]))


def _asks(turn: Turn) -> bool:
    return turn.speaker == "assistant" and turn.text.rstrip().endswith(_QUESTIONS)


@cache
def _openers() -> tuple[str, ...]:
    """Return the phrases that people say before they ask for something else."""
    pages = (
        (code, page) for code in known() for page in ("assistant.openers", "conversations.switches")
    )
    return tuple(
        _SLOT.split(shape)[0].strip() for code, page in pages for shape in shapes_in(code, page)
    )


_WORD = re.compile(r"[^\W_]+")
_FAINT = frozenset({"by", "of", "up", "the", "for", "in", "to", "a", "an", "my", "and"})
_READS = frozenset({"list", "search", "look"})  # deeds that are asked for in each other's words
_LEAST = 0.75  # of the words of a tool's name that a text must have more than, as stems


def _likeliest(views: Sequence[ToolView], text: str) -> ToolView | None:
    """Return the tool whose name or title shares most words with a text."""
    lower_text, stems, deeds = text.lower(), _stems(text), _deeds(text)
    best, chosen = _LEAST, None
    for view in _asked_for(views, text):
        title = view.title.lower()
        # a title that stands there whole counts for more than all words
        if title in lower_text:
            share = 1 + len(title) / _LONGEST_TEXT
        else:
            share = max(
                _share(words, stems, deeds)
                for words in (function_words(view.name), _WORD.findall(title))
            )
        if share > best:
            best, chosen = share, view
    return chosen


# a sentence and details behind it: "Read a page. Page ID: 7; language: English."
_PLAIN = LanguagePattern(r"^(?P<head>(?:(?!@[:])[^.!?])+[.!?]) (?:(?!@[:])[^.!?])+@[:] ")
_MOST_SAID = 0.7  # of a plain request's words that the tool's name and title have at least


def _asked_for(views: Sequence[ToolView], text: str) -> list[ToolView]:
    """Return the tools that a text may ask for: in a plain request the head says what is wanted."""
    language = language_of(text)
    plain = _PLAIN.of(text).match(text)
    if plain is None:
        return [*views]
    heads = [plain["head"], *unopened(plain["head"], language)]
    wanted = [_telling_stems(head) for head in heads]
    return [
        view
        for view in views
        for known in [_telling_stems(f"{' '.join(function_words(view.name))} {view.title}")]
        if any(words and len(words & known) / len(words) >= _MOST_SAID for words in wanted)
    ]


def _telling_stems(text: str) -> frozenset[str]:
    return frozenset(map(deep_stem, {*_WORD.findall(text.lower())} - _FAINT))


def _share(words: Sequence[str], stems: frozenset[str], deeds: frozenset[str]) -> float:
    """Return how much of a tool's name a text says; 0 if its verb is not the text's."""
    telling_words = [word for word in words if word not in _FAINT]
    if not telling_words or (deeds and _deeds(telling_words[0]) - deeds):
        return 0.0
    wanted = {deep_stem(word) for word in telling_words if _deeds(word) != {"look"}} or {
        *map(deep_stem, telling_words)
    }
    return len(wanted & stems) / len(wanted)


@lru_cache(8192)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(deep_stem, _WORD.findall(text.lower())))


@lru_cache(8192)
def _deeds(text: str) -> frozenset[str]:
    """Return the kinds of action that the known verbs of a text name."""
    found = {deed_of(one) for one in _WORD.findall(text.lower())} - {"other"}
    return frozenset("look" if one in _READS else one for one in found)


_MOST_NAMED = 30
_LEAST_SHARED = 0.2  # a word that five tools have


def name_tools(sections: Sections) -> JsonValue:
    """Return the tools of the section <list> that share words with the user, rarest first."""
    user_stems = frozenset[str]().union(
        *(_stems(turn.text) for turn in sections.turns() if turn.speaker == "user")
    )
    line_stems = {line: _stems(line) for line in map(str, sections.listed("list"))}
    often = Counter(chain.from_iterable(line_stems.values()))
    shared = {
        line: sum(1 / often[word] for word in words & user_stems)
        for line, words in line_stems.items()
    }
    found = (line for line in line_stems if shared[line] > _LEAST_SHARED)
    likely = sorted(found, key=shared.__getitem__, reverse=True)
    return {"tools": [line.partition(":")[0] for line in likely[:_MOST_NAMED]]}


def read_values(
    view: ToolView, turns: Sequence[Turn], told: Mapping[str, JsonValue] | None = None
) -> dict[str, JsonValue]:
    """Return the arguments that turns state, added to those `told` before; the last value wins."""
    arguments, question = dict(told or {}), ""
    for turn in resolve_pointers(turns[-_MOST_TURNS:]):
        text = turn.text[:_LONGEST_TEXT]
        if turn.speaker == "assistant":
            question = text
        elif turn.speaker in ("user", "message"):
            arguments |= _read_turn(view, text, question, arguments)
            question = ""
    return {one.name: arguments[one.name] for one in view.parameters if one.name in arguments}


def _read_turn(
    view: ToolView, text: str, question: str, told: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    language = language_of(text)
    own = read_sentence(view, text, language)
    if own is not None:
        return {
            **own.arguments,
            **(_read_turn(view, own.rest, "", own.arguments) if own.rest else {}),
        }
    values, unread = named_values(view, text, language)
    open_parameters = asked_parameters(view, question, told) if question else ()
    if open_parameters:
        changed, unread = _changed(view, unread, told, language, is_asked=True)
        values |= changed
    if not any(map(is_typed, open_parameters)):  # else it may be the answer
        typed = {name: one for name, one in told.items() if is_typed(view.parameter(name))}
        changed, unread = _changed(view, unread, typed, language)
        values |= changed
    if open_parameters:
        values, unread = _answered(view, open_parameters, values, unread, language)
    if (
        open_parameters and values
    ):  # what else stands in an answer takes it back, or is no new value
        return values | _changed(view, unread, values, language)[0]
    return {
        **dict(_alone(view, " ".join(unread), values)),
        **_changed(view, unread, told, language)[0],
        **values,
    }


def named_values(
    view: ToolView, text: str, language: Language
) -> tuple[dict[str, JsonValue], list[str]]:
    """Return the values after their parameter's name, in a phrase or alone, and other sentences."""
    values, unread = dict[str, JsonValue](), list[str]()
    for piece in _sentences(text):
        matches = (
            shape.fullmatch(piece.rstrip(_ENDS))
            for shape in _shapes(language, *_NAMING, with_name=True)
        )
        named = next(filter(None, (_named(view, one) for one in matches if one)), None)
        read, rest = (named, "") if named else _beside(view, piece)
        values |= read
        unread += [rest] if rest == piece or len(rest.split()) > _FEW else []
    return values, unread


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text; a mark inside quotation marks does not end one."""
    quoted = [one.span() for one in QUOTED.finditer(text)]
    ends = (found.end() for found in SENTENCE_END.finditer(text))
    cuts = [
        0,
        *(end for end in ends if not any(start < end < close for start, close in quoted)),
        len(text),
    ]
    return [text[start:end].strip() for start, end in pairwise(cuts) if text[start:end].strip()]


_NAMING = (
    "corrections",
    "dialogues.answers",
    "conversations.rendered",
    "conversations.flags",
    "conversations.facts",
    "conversations.corrections",
    "conversations.retries",
    "defects.asides",
    "user.tell",
)
_SLOT = re.compile(r"\{(\w+)\}")
_HOLDS = re.compile(r"\{(?:value|answer)\}")
_WITHIN = widened("@[^.!?{.!?}]+?")
_VALUE = "(?P<value>.+?)"
_SLOTS = {
    "called": f"(?P<called>{_WITHIN})",
    "value": _VALUE,
    "answer": _VALUE,
    "values": f"(?P<values>{_WITHIN})",
    "request": "",
}
_ENDS = signs(" .!?{.!?}")
_AROUND = signs(" \t\n\"'“”«»{open}{close}.,;:!?")


@lru_cache(64)
def _shapes(
    language: Language, *pages: str, with_name: bool = False
) -> tuple[re.Pattern[str], ...]:
    """Return patterns for a language's sentences that hold a value, most own words first."""
    shapes = (shape for page in pages for shape in shapes_in(language, page))
    pieces = {one.strip() for shape in shapes for one in _sentences(shape) if _HOLDS.search(one)}
    kept = [one for one in pieces if ("{called}" in one) == with_name]
    ordered = sorted(kept, key=lambda one: (-len(_SLOT.sub("", one)), one))
    return tuple(_pattern(one.rstrip(_ENDS)) for one in ordered)


@lru_cache(256)
def _leads(language: Language, *pages: str) -> tuple[re.Pattern[str], ...]:
    """Return patterns for the phrases that lead to another request."""
    return tuple(_pattern(shape) for page in pages for shape in shapes_in(language, page))


def _pattern(shape: str) -> re.Pattern[str]:
    """Return a pattern for a shape, with groups for a parameter's name, its value, and a list."""
    parts = _SLOT.split(shape)
    spelled = (
        _SLOTS.get(part, ".+?") if at % 2 else re.escape(part) for at, part in enumerate(parts)
    )
    return re.compile("".join(spelled), re.IGNORECASE | re.DOTALL)


def _named(view: ToolView, match: re.Match[str]) -> dict[str, JsonValue] | None:
    """Return the value that a match states, None if it names no parameter that takes it."""
    table = view.table
    called = table.pattern.match(match.string, match.start("called")) if table else None
    if table is None or called is None or called.end() < match.end("called"):
        return None
    begin = match.start("value")
    # a name of several words, of which the shape gives some to the value
    if called.end() > match.end("called"):
        begin = called.end() if begin - match.end("called") in (0, 1) else len(match.string)
    parameter = view.parameters[table.owner(called[0])]
    value = value_of(parameter, match.string[begin : match.end("value")].strip(_AROUND))
    return None if value is None else {parameter.name: value}


_LINK = LanguagePattern(r"\s*(?:@{stated_in}|@[:])\s*")
_FEW = 2  # words that may be left of a sentence whose values were read
_NEXT_WORD = re.compile(r"\s+[^\s,.;!?]+")
_CLAUSE = re.compile(widened(r"(?:(?!@[,.;!?](?=\s|$)|@[{.,;!?}]).)+"), re.DOTALL)


def _beside(view: ToolView, piece: str) -> tuple[dict[str, JsonValue], str]:
    """Return the values right after their parameter's name, and what else a sentence says.

    A value ends at the next sign.
    """
    values, rest, table = dict[str, JsonValue](), piece, view.table
    if table is None:
        return values, rest
    for called in outside_quotes(table.pattern, piece):
        parameter = view.parameters[table.owner(called[0])]
        link = _LINK.of(piece).match(piece, called.end())
        if link:
            behind = QUOTED.match(piece, link.end()) or _CLAUSE.match(piece, link.end())
        else:
            behind = None
            if is_typed(parameter) or parameter.is_identifier:
                behind = _NEXT_WORD.match(piece, called.end())
        value = value_of(parameter, behind[0].strip(_AROUND)) if behind else None
        is_sure = link or not isinstance(value, str) or not value.islower() or is_typed(parameter)
        if behind and value is not None and is_sure:
            values[parameter.name] = value
            rest = rest.replace(piece[called.start() : behind.end()], " ")
    return values, rest.strip(_AROUND) if values else piece


def _answered(
    view: ToolView,
    asked: Sequence[ParameterView],
    named: Mapping[str, JsonValue],
    pieces: Sequence[str],
    language: Language,
) -> tuple[dict[str, JsonValue], list[str]]:
    """Return `named` with the values of answers, in the tool's words or bare, and the rest.

    The rest are the sentences left.
    """
    values, left = dict(named), list[str]()
    for piece in pieces:
        own = {
            one.name: value
            for one in view.parameters
            if one.name not in values
            and (value := read_answer(view, one, piece, language, is_asked=one in asked))
            is not None
        }
        wanted = [one for one in asked if one.name not in values]
        ways = {one.name: own[one.name] for one in wanted if one.name in own} or (
            own if len(own) == 1 else {}
        )
        page = (
            (one.name, value)
            for one in wanted
            if (value := _answer(one, piece, language)) is not None
        )
        name, value = next(chain(ways.items(), page), ("", None))
        values |= {name: value} if name else {}
        left += [] if name else [piece]
    return values, left


def _answer(parameter: ParameterView, piece: str, language: Language) -> JsonValue:
    """Return what a sentence answers: within a frame, as a whole, or by a code in it; or None."""
    shapes = (
        one.fullmatch(piece.rstrip(_ENDS))
        for one in _shapes(language, "dialogues.answers", "conversations.retries")
    )
    codes = _CODE.findall(piece) if parameter.is_identifier else []
    ways = [*(one["value"] for one in shapes if one), piece, *codes]
    return next(
        (value for one in ways if (value := value_of(parameter, one.strip(_AROUND))) is not None),
        None,
    )


_CODE = re.compile(r"(?=\S*\d)[!-~]+")


def _changed(
    view: ToolView,
    pieces: Sequence[str],
    told: Mapping[str, JsonValue],
    language: Language,
    *,
    is_asked: bool = False,
) -> tuple[dict[str, JsonValue], list[str]]:
    """Return the values that corrections without a name change, and the sentences left over."""
    new_values, left = dict[str, JsonValue](), list[str]()
    for piece in pieces:
        changed = read_correction(view, piece, dict(told), language, is_asked=is_asked)
        new_values |= changed
        left += [] if changed else [piece]
    return new_values, left


def _alone(
    view: ToolView, text: str, found: Mapping[str, JsonValue]
) -> Iterator[tuple[str, JsonValue]]:
    """Yield the values known by type alone: the only day, the only number, a choice, a flag."""
    taken = {str(value) for value in found.values()}
    for code in taken:  # the 5 of L-5 counts nothing
        if any(map(str.isalpha, code)) and any(map(str.isdigit, code)):
            text = text.replace(code, " ")
    left = [one for one in view.parameters if one.name not in found]
    kinds = Counter(one.kind for one in left)
    for parameter in left:
        value: JsonValue = None
        if parameter.kind == "boolean":
            value = next(
                (
                    flag
                    for flag in (True, False)
                    if locate(flag, parameter.schema, text) is not None
                ),
                None,
            )
        elif parameter.kind == "choice" or (
            (parameter.kind in CLOCKED or parameter.is_number) and kinds[parameter.kind] == 1
        ):
            value = value_of(parameter, text)
        if value is not None and str(value) not in taken:
            yield parameter.name, value
