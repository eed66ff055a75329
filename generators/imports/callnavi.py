"""CallNavi's questions as routing samples over the whole catalog of their domain.

A question's id and difficulty become tags, its domain the category. What the export of a sample gives is the question it
came from. A placeholder stays what it is, with evidence where an earlier call of the question returns its value.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import JsonValue

from generators.catalogs.callnavi import UNKNOWN_VALUE, read_callnavi
from generators.catalogs.catalog import Problem, ProblemKind, shown
from generators.catalogs.documents import files_at, read_rows
from generators.routing.family import FAMILY
from generators.routing.tool_graph import Feed, returned_fields, unknown_evidence
from language.packs import main_language
from warehouse.exports.callnavi import DIFFICULTIES, QUESTIONS
from warehouse.records import CallTurn, Evidence, GoldCall, Origin, ReplyTurn, Sample, Tool, Turn, UserTurn, trait_tag

STAGE = "import_callnavi"
QUESTION_FIELDS = frozenset({"id", "question", "ground_truth", "difficulty"})
_KINDS = {str(kind.traits.difficulty): kind.name for kind in FAMILY.kinds}

Fields = dict[str, JsonValue]


class CallNaviRecord(NamedTuple):
    """A question as a sample with its candidate tools; `sample` is None where it can't be read: `problems` say why."""

    where: str
    sample: Sample | None
    tools: tuple[Tool, ...]
    problems: tuple[Problem, ...] = ()


def read_callnavi_samples(path: Path) -> Iterator[CallNaviRecord]:
    """Every question of a CallNavi folder; ConfigurationError where it has no tools or no questions."""
    domains: dict[str, tuple[Tool, ...]] = {}
    for tool in read_callnavi(path).tools:
        domains[tool.category] = (*domains.get(tool.category, ()), tool)
    for file in files_at(path / QUESTIONS):
        for row in read_rows(file):
            if isinstance(row, Problem):
                yield CallNaviRecord(row.where, None, (), (row,))
            else:
                yield _CallNaviReader(row.where, file.stem, domains.get(file.stem, ())).record(row.value)


class _CallNaviReader:
    """Reads one question, and gathers what was found wrong."""

    def __init__(self, where: str, domain: str, tools: tuple[Tool, ...]) -> None:
        self._where, self._domain, self._tools = where, domain, tools
        self._problems: list[Problem] = []
        self._readable = True

    def record(self, value: JsonValue) -> CallNaviRecord:
        fields = value if isinstance(value, dict) else {}
        turns = self._turns(fields.get("question"))
        calls = self._calls(fields.get("ground_truth"))
        difficulty, identity = fields.get("difficulty"), fields.get("id")
        if difficulty not in DIFFICULTIES:
            self._refuse(f"The difficulty is {shown(difficulty)}, none of {', '.join(DIFFICULTIES)}")
        if not isinstance(identity, str):
            self._refuse(f"The id is {shown(identity)}, not a text")
        if not self._tools:
            self._refuse(f"The domain {self._domain!r} has no tools")
        extra = sorted(set(fields) - QUESTION_FIELDS)
        if extra:
            self._note("unknown_field", f"The question has the fields {extra}, which a sample does not keep.")
        if not self._readable:
            return CallNaviRecord(self._where, None, (), tuple(self._problems))
        sample = Sample(
            kind=_KINDS[str(difficulty)],
            language=main_language(" ".join(turn.text for turn in turns if isinstance(turn, UserTurn))),
            category=self._domain,
            candidates=tuple(tool.key for tool in self._tools),
            turns=(*turns, CallTurn(calls=tuple(calls))),
            tags=(trait_tag("difficulty", difficulty), trait_tag("callnavi_id", orjson.dumps(identity).decode())),
            origin=Origin(stage=STAGE),
        )
        return CallNaviRecord(self._where, sample, self._tools, tuple(self._problems))

    def _turns(self, messages: JsonValue) -> list[Turn]:
        turns: list[Turn] = []
        for message in messages if isinstance(messages, list) else []:
            match message:
                case {"role": "user", "content": str(text)}:
                    turns.append(UserTurn(text=text))
                case {"role": "assistant", "content": str(text)}:
                    turns.append(ReplyTurn(text=text))
                case _:
                    self._refuse(f"A message is {shown(message)}")
        if not any(isinstance(turn, UserTurn) for turn in turns):
            self._refuse(f"The question is {shown(messages)}, not a list of messages of a user")
        return turns

    def _calls(self, truth: JsonValue) -> list[GoldCall]:
        match truth:
            case {"API": [*names], "parameters": [*parameters]}:
                pass
            case _:
                self._refuse(f"The ground truth is {shown(truth)}, not names and parameters")
                return []
        if not parameters and names:
            self._note("no_parameters", "No parameters stand beside the names; each call is read as one without any.")
            parameters = [{} for _ in names]
        calls: list[GoldCall] = []
        for name, given in zip(names, parameters, strict=False):
            if isinstance(name, str) and name and isinstance(given, dict):
                calls.append(GoldCall(tool=name, arguments=given, evidence=self._evidence(given, calls)))
        if not len(calls) == len(names) == len(parameters):
            self._refuse(f"The ground truth is {shown(truth)}, not a name and parameters for each call")
        known = {tool.name for tool in self._tools}
        for name in dict.fromkeys(call.tool for call in calls if call.tool not in known):
            self._note(
                "unresolvable_reference", f"The gold names {name!r}, which is no tool of the domain {self._domain!r}."
            )
        return calls

    def _evidence(self, given: Fields, before: list[GoldCall]) -> tuple[Evidence, ...]:
        """Where placeholders come from: the nearest earlier call that returns a field of this name."""
        found = []
        for argument in (name for name, value in given.items() if value == UNKNOWN_VALUE):
            places = [at for at, call in enumerate(before) if argument in self._returned(call.tool)]
            found += [unknown_evidence(argument, Feed(places[-1], argument))] if places else []
        return tuple(found)

    def _returned(self, name: str) -> set[str]:
        return {field for tool in self._tools if tool.name == name for field in returned_fields(tool)}

    def _refuse(self, reason: str) -> None:
        self._readable = False
        self._note("bad_record", f"{reason}; the question is left out.")

    def _note(self, kind: ProblemKind, message: str) -> None:
        self._problems.append(Problem(where=self._where, kind=kind, message=message))
