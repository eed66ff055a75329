"""Several calls in one message: each worded as a request of its own behind a lead, and read back lead by lead."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Any, NamedTuple

from pydantic import JsonValue

from callwright.language.calls.tools import action_gap, action_phrase, view_of
from callwright.language.names import humanise, split_name
from callwright.language.packs import of
from callwright.language.values import write_value
from callwright.llm.template.sections import Sections
from callwright.llm.template.wording import word_call
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import DEFAULT_LANGUAGE, JsonSchema, Language

_PHRASES = "parallel"
_TRIES = 12


class _Leads(NamedTuple):
    """The phrases of a language: what stands before each request but the first, and what only begins or ends a message."""

    leads: tuple[str, ...]
    joint: str
    begins: tuple[str, ...]
    ends: tuple[str, ...]


def word_parallel(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The message for the calls in <calls> of the tools in <tools>, and the stretch of it that is about each."""
    calls, tools = sections.listed("calls"), sections.listed("tools")
    views = {str(tool["name"]): view_of(tool) for tool in tools if isinstance(tool, dict)}
    book, last = _leads_of(language), len(calls) - 1
    parts: list[JsonValue] = []
    for at, (call, lead) in enumerate(zip(calls, ["", *rng.sample(book.leads, last)], strict=True)):
        view, text = views.get(str(call["tool"])), ""
        if view is None:
            raise ReplyError(f"template/v1 finds no tool {call['tool']!r} in <tools>.")
        for _ in range(_TRIES):
            text = word_call(view, call["arguments"], language, rng).request
            # nobody greets in the middle of a message nor thanks before its end
            if (at == 0 or not text.startswith(book.begins)) and (at == last or not text.endswith(book.ends)):
                break
        parts.append(lead + text)
    return {"request": book.joint.join(map(str, parts)), "parts": parts}


def split_requests(text: str, language: Language) -> list[str]:
    """The requests of a message, without the leads between them; the message where the language has no leads."""
    if _PHRASES not in of(language).data:
        return [text]
    leads = "|".join(re.escape(lead.strip()) for lead in _leads_of(language).leads)
    return [stretch.strip() for stretch in re.split(leads, text) if stretch.strip()]


@cache
def _leads_of(language: Language) -> _Leads:
    phrases = of(language).data
    if _PHRASES not in phrases:
        raise ReplyError(f"template/v1 has no phrases for several requests in the language {language!r}.")
    read = phrases[_PHRASES]
    return _Leads(tuple(read["leads"]), read["joint"], tuple(read["begins"]), tuple(read["ends"]))


_ID = frozenset({"number", "id", "code", "key"})
_SENTENCES = re.compile(r"[.:;!?]\s|[\n`()]|\s[A-Z][a-z]")  # or a title
_LONGEST_PHRASE, _MOST_WORDS = 12, 6
_ARTICLE = re.compile(r"^(?:an?|the) ")


def word_routing(sections: Sections, rng: Random) -> str:
    """The request for the calls in <calls> of the tools in <tools>; ReplyError where the prompt shows none."""
    calls, tools = sections.listed("calls"), sections.listed("tools")
    language = sections.word("language", DEFAULT_LANGUAGE)
    if language != DEFAULT_LANGUAGE:
        raise ReplyError(
            f"template/v1 words calls of whole catalogs in {of(DEFAULT_LANGUAGE).name} only; use another model for"
            f" {of(language).name}."
        )
    return _RoutingRenderer(calls, {str(tool["name"]): tool for tool in tools if isinstance(tool, dict)}, rng).request()


class _RoutingRenderer:
    def __init__(self, calls: Sequence[Any], tools: Mapping[str, Any], rng: Random) -> None:
        book: Mapping[str, Any] = of(DEFAULT_LANGUAGE).data["routing"]
        self._verbs: Mapping[str, Sequence[str]] = book["verbs"]
        self._book: Mapping[str, Sequence[str]] = {name: shapes for name, shapes in book.items() if name != "verbs"}
        unknown = [call["tool"] for call in calls if call["tool"] not in tools]
        if unknown:
            raise ReplyError(f"template/v1 finds no tool {unknown[0]!r} in <tools>.")
        self._calls, self._tools, self._rng = calls, tools, rng
        self._rendered: set[int] = set()  # lookups whose finding was already spoken of
        self._known: set[tuple[str, str]] = set()  # parameters and values that were already said

    def request(self) -> str:
        sources = (source for call in self._calls for source in call["arguments"].values())
        feeding = {source["call"] for source in sources if source["kind"] == "picked"}
        clauses = [self._clause(at) for at in range(len(self._calls)) if at not in feeding]
        if len(clauses) == 1:
            return self._framed(self._rng.choice(self._book["single"]), clauses[0])
        first, *later = clauses
        leads = self._rng.sample(self._book["later"], len(later))
        sentences = [self._framed(self._rng.choice(self._book["first"]), first)]
        return " ".join([*sentences, *(self._framed(lead, one) for lead, one in zip(leads, later, strict=True))])

    def _framed(self, frame: str, clause: str) -> str:
        return frame.format(clause, clause[0].upper() + clause[1:])

    def _clause(self, at: int) -> str:
        phrase = self._phrase(at)
        verb = next((verb for verb in self._verbs if phrase.startswith(f"{verb} ")), "")
        body, rest = self._body(at, phrase.removeprefix(f"{verb} "))
        if verb == "change" and len(rest) == 1:
            body += f" to {next(iter(rest.values()))}"
        elif rest:
            *stated, last = [f"{what} {value}" for what, value in rest.items()]
            body += self._rng.choice(self._book["rest"]) + (f"{', '.join(stated)} and {last}" if stated else last)
        return f"{self._rng.choice(self._verbs[verb])} {body}" if verb else body

    def _phrase(self, at: int) -> str:
        tool = self._tools[self._calls[at]["tool"]]
        described = str(tool["description"]).strip().rstrip(".")
        name = str(tool["name"])
        if described and _is_phrase(described) and _asks(described, action_phrase(name, described)):
            return described[0].lower() + described[1:]
        if gap := action_gap(name, described):
            raise ReplyError(f"template/v1 can't word a question: {gap}.")
        return action_phrase(name, described)

    def _body(self, at: int, body: str) -> tuple[str, dict[str, str]]:
        """A phrase with the things it speaks of named, and the other arguments by what people call them."""
        handle = re.fullmatch(r"(an? .+?) by (.+)", body)
        rest: dict[str, str] = {}
        for name, source in self._calls[at]["arguments"].items():
            thing = _thing(name)
            mention = re.compile(rf"\ban? {re.escape(thing)}\b") if thing else None
            if mention and mention.search(body):
                named = self._named(name, thing, source, at)
                body = mention.sub(lambda _, named=named: named, body, count=1)  # type: ignore[misc]
            elif source["kind"] == "said":
                rest[self._what(at, name)] = self._value(at, name, source["value"])
            else:
                rest[self._what(at, name)] = f"of {self._finding(source['call'])}"
        if handle and len(rest) == 1:
            [(what, value)] = rest.items()
            thing = _ARTICLE.sub("the ", handle[1])
            return f"{thing} {self._rng.choice(self._book['with']).format(what=what, value=value)}", {}
        return body, rest

    def _named(self, name: str, thing: str, source: Mapping[str, Any], at: int) -> str:
        if source["kind"] == "picked":
            return self._finding(source["call"])
        value = self._value(at, name, source["value"])
        is_again = (name, value) in self._known
        self._known.add((name, value))
        return self._rng.choice(self._book["again"] if is_again else self._book["stated"]).format(
            thing=thing, value=value
        )

    def _finding(self, at: int) -> str:
        """What a lookup finds, by the words of its description: "the main account of customer CU-1"."""
        phrase = self._phrase(at)
        found = next((phrase.removeprefix(f"{verb} ") for verb in self._verbs if phrase.startswith(f"{verb} ")), phrase)
        if at in self._rendered:
            return "that " + _ARTICLE.sub("", re.split(r" (?:by|of|for) ", found)[0])
        self._rendered.add(at)
        body, rest = self._body(at, found)
        return body + (f" with {' and '.join(f'{what} {value}' for what, value in rest.items())}" if rest else "")

    def _what(self, at: int, name: str) -> str:
        described = str(self._schema(at, name).get("description") or "")
        is_ours = 0 < len(described.split()) <= _MOST_WORDS and described[0].islower() and _is_phrase(described)
        return described if is_ours else humanise(name)

    def _value(self, at: int, name: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
        schema = self._schema(at, name)
        words = write_value(value, schema, DEFAULT_LANGUAGE, self._rng)
        return f'"{words}"' if "examples" in schema and " " in words else words

    def _schema(self, at: int, name: str) -> JsonSchema:
        properties = self._tools[self._calls[at]["tool"]].get("parameters", {}).get("properties", {})
        schema = properties.get(name, {})
        return schema if isinstance(schema, dict) else {}


def _is_phrase(described: str) -> bool:
    """Whether a description is what people would say, in one clause, as those of our own catalogs are."""
    return len(described.split()) <= _LONGEST_PHRASE and not _SENTENCES.search(described)


def _asks(described: str, phrase: str) -> bool:
    """Whether a description asks for what the tool does ("Retrieve pay items"), and does not tell it ("Retrieves …")."""
    return described.split(maxsplit=1)[0].lower() == phrase.split(" ", maxsplit=1)[0].lower()


def _thing(name: str) -> str:
    """What a parameter identifies: "debit card" for debitCardNumber, "" where its name speaks of no identity."""
    *thing, last = split_name(name)
    return " ".join(thing) if thing and last in _ID else ""
