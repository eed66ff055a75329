"""CallNavi's questions as routing samples over the whole catalog of their domain.

A question's id and difficulty become tags, its domain the category. What the export of a sample gives is the question it
came from. A placeholder stays what it is, with evidence where an earlier call of the question returns its value.
"""

from collections.abc import Iterator
from pathlib import Path

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import files_at, read_rows
from callwright.generators.catalogs.papers import UNKNOWN_VALUE, read_callnavi
from callwright.generators.imports.reading import ImportedRecord, RecordReader, SampleFormat, language_of_user, unread
from callwright.generators.routing.making import FAMILY
from callwright.generators.routing.tool_graph import Feed, returned_fields, unknown_evidence
from callwright.warehouse.exports.papers import DIFFICULTIES, QUESTIONS
from callwright.warehouse.records import (
    CallTurn,
    Evidence,
    GoldCall,
    Origin,
    ReplyTurn,
    Sample,
    Tool,
    Turn,
    UserTurn,
    trait_tag,
)

STAGE = "import_callnavi"
QUESTION_FIELDS = frozenset({"id", "question", "ground_truth", "difficulty"})
_KINDS = {str(kind.traits.difficulty): kind.name for kind in FAMILY.kinds}


def read_callnavi_samples(path: Path) -> Iterator[ImportedRecord]:
    """Every question of a CallNavi folder; ConfigurationError where it has no tools or no questions."""
    domains: dict[str, tuple[Tool, ...]] = {}
    for tool in read_callnavi(path).tools:
        domains[tool.category] = (*domains.get(tool.category, ()), tool)
    for file in files_at(path / QUESTIONS):
        for row in read_rows(file):
            if isinstance(row, Problem):
                yield unread(row)
            else:
                yield _CallNaviReader(row.where, file.stem, domains.get(file.stem, ())).record(row.value)


class _CallNaviReader(RecordReader):
    word = "question"

    def __init__(self, where: str, domain: str, tools: tuple[Tool, ...]) -> None:
        super().__init__(where, CatalogBuilder("callnavi"))
        self._domain, self._tools = domain, tools

    def record(self, value: JsonValue) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        turns = self._turns(fields.get("question"))
        calls = self._calls(fields.get("ground_truth"))
        difficulty, identity = fields.get("difficulty"), fields.get("id")
        if difficulty not in DIFFICULTIES:
            self.refuse(f"The difficulty is {shown(difficulty)}, none of {', '.join(DIFFICULTIES)}")
        if not isinstance(identity, str):
            self.refuse(f"The id is {shown(identity)}, not a text")
        if not self._tools:
            self.refuse(f"The domain {self._domain!r} has no tools")
        self.note_lost(fields, QUESTION_FIELDS)
        return self.imported(
            lambda: Sample(
                kind=_KINDS[str(difficulty)],
                language=language_of_user(turns),
                category=self._domain,
                candidates=tuple(tool.key for tool in self._tools),
                turns=(*turns, CallTurn(calls=tuple(calls))),
                tags=(
                    trait_tag("difficulty", str(difficulty)),
                    trait_tag("callnavi_id", orjson.dumps(identity).decode()),
                ),
                origin=Origin(stage=STAGE),
            ),
            self._tools,
        )

    def _turns(self, messages: JsonValue) -> list[Turn]:
        turns: list[Turn] = []
        for message in messages if isinstance(messages, list) else []:
            match message:
                case {"role": "user", "content": str(text)}:
                    turns.append(UserTurn(text=text))
                case {"role": "assistant", "content": str(text)}:
                    turns.append(ReplyTurn(text=text))
                case _:
                    self.refuse(f"A message is {shown(message)}")
        if not any(isinstance(turn, UserTurn) for turn in turns):
            self.refuse(f"The question is {shown(messages)}, not a list of messages of a user")
        return turns

    def _calls(self, truth: JsonValue) -> list[GoldCall]:
        match truth:
            case {"API": [*names], "parameters": [*parameters]}:
                pass
            case _:
                self.refuse(f"The ground truth is {shown(truth)}, not names and parameters")
                return []
        if not parameters and names:
            self.note("no_parameters", "No parameters stand beside the names; each call is read as one without any.")
            parameters = [{} for _ in names]
        calls: list[GoldCall] = []
        returned: dict[str, set[str]] = {}
        for tool in self._tools:
            returned.setdefault(tool.name, set()).update(returned_fields(tool))
        for name, given in zip(names, parameters, strict=False):
            if isinstance(name, str) and name and isinstance(given, dict):
                found: list[
                    Evidence
                ] = []  # where placeholders come from: the nearest call before that returns such a field
                for argument in (argument for argument, value in given.items() if value == UNKNOWN_VALUE):
                    places = [at for at, call in enumerate(calls) if argument in returned.get(call.tool, ())]
                    found += [unknown_evidence(argument, Feed(places[-1], argument))] if places else []
                calls.append(GoldCall(tool=name, arguments=given, evidence=tuple(found)))
        if not len(calls) == len(names) == len(parameters):
            self.refuse(f"The ground truth is {shown(truth)}, not a name and parameters for each call")
        for name in dict.fromkeys(call.tool for call in calls if call.tool not in returned):
            message = f"The gold names {name!r}, which is no tool of the domain {self._domain!r}."
            self.note("unresolvable_reference", message)
        return calls


FORMAT = SampleFormat("callnavi", "CallNavi's questions with the calls that answer them", read_callnavi_samples)
