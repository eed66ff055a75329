"""Where an import puts what it finds, one item after another."""

import re
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from generators.catalogs.catalog import Catalog, Note, Problem, ProblemKind, shown
from generators.catalogs.rewriting import Change, unchanged
from generators.catalogs.signatures import FATAL, signature_of, valid_returns
from warehouse.errors import ConfigurationError
from warehouse.records import Language, Tool, content_key

_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
LATIN_PER_HAN = 3


class Draft(NamedTuple):
    """A tool as a file states it, before anything is known to be usable; `language` None is told from the texts."""

    where: str
    category: str
    name: JsonValue
    description: JsonValue
    parameters: JsonValue
    returns: JsonValue = None
    language: Language | None = None
    notes: tuple[Note, ...] = ()


class Shelf:
    """The tools and problems gathered so far; an item met before is counted again but kept once."""

    def __init__(self, source: str, *, change: Change = unchanged, by_category: bool = True) -> None:
        """`change` knows the format's own words; not `by_category`, the first category met is an item's category."""
        self.problems: list[Problem] = []
        self.entries = 0
        self._source = source
        self._change = change
        self._by_category = by_category
        self._met: dict[str, Tool | None] = {}
        self._tools: dict[str, Tool] = {}
        self._named: dict[tuple[str, str], list[Tool]] = {}

    def put(self, draft: Draft, source: str = "") -> Tool | None:
        """Keep a tool and report what is odd about it; None where it can't be used."""
        self.entries += 1
        item: list[JsonValue] = [draft.name, draft.description, draft.parameters, draft.returns, draft.language, source]
        met = content_key([*item, draft.category] if self._by_category else item)
        if met not in self._met:
            self._met[met] = self._admitted(draft, source or self._source)
        return self._met[met]

    def refuse(self, where: str, value: JsonValue) -> None:
        """Count an item that states no tool at all, and say so."""
        self.entries += 1
        self.report(where, "not_an_object", f"{shown(value)} stands where a tool is expected; left out.")

    def report(self, where: str, kind: ProblemKind, message: str, tool: str = "") -> None:
        """Keep something odd that is no tool's own fault."""
        self.problems.append(Problem(where=where, tool=tool, kind=kind, message=message))

    def catalog(self, path: Path, expected: str) -> Catalog:
        """All that was gathered; ConfigurationError where no item at all was met."""
        if not self.entries:
            found = f" {self.problems[0].message}" if self.problems else ""
            raise ConfigurationError(f"{str(path)!r} holds no tool in this format; {expected} is expected.{found}")
        names = {tool.name for tool in self._tools.values()}
        return Catalog(
            tools=tuple(self._tools.values()),
            entries=self.entries,
            distinct=len(names),
            problems=tuple(self.problems),
        )

    def _admitted(self, draft: Draft, source: str) -> Tool | None:
        name, description = draft.name, draft.description
        schema, notes = signature_of(draft.parameters, self._change)
        returns, return_notes = valid_returns(draft.returns, self._change)
        notes = (*draft.notes, *_name_notes(name), *_description_notes(description), *notes, *return_notes)
        text = description if isinstance(description, str) else ""
        for note in notes:
            self.report(draft.where, note.kind, note.message, name if isinstance(name, str) else "")
        if not isinstance(name, str) or any(note.kind in FATAL for note in notes):
            return None
        tool = Tool(
            name=name,
            description=text,
            parameters=schema,
            returns=returns,
            category=draft.category,
            language=draft.language or language_of(text),
            source=source,
        )
        self._note_duplicate(tool, draft.where)
        return self._tools.setdefault(tool.key, tool)

    def _note_duplicate(self, tool: Tool, where: str) -> None:
        others = self._named.setdefault((tool.language, tool.name), [])
        if others and tool.key not in self._tools:
            categories = ", ".join(repr(other.category) for other in others)
            message = (
                f"{tool.name!r} of {tool.category!r} is also in {categories}, with other content or purpose;"
                " each is kept as a tool of its own."
            )
            self.report(where, "duplicate_name", message, tool.name)
        others.append(tool)


def language_of(text: str) -> Language:
    """Chinese where a good part of the letters are Han characters, else English."""
    return "zh" if LATIN_PER_HAN * len(_HAN.findall(text)) > len(_LATIN.findall(text)) else "en"


def _name_notes(name: JsonValue) -> tuple[Note, ...]:
    if isinstance(name, str) and name.strip():
        return ()
    return (Note("no_name", f"The tool's name is {shown(name)}, not text; left out."),)


def _description_notes(description: JsonValue) -> tuple[Note, ...]:
    if isinstance(description, str) and description.strip():
        return ()
    return (Note("no_description", f"The description is {shown(description)}; the tool is kept without one."),)
