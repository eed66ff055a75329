"""The published records of HammerBench, CallNavi and ComplexFuncBench as samples.

An export of such a sample gives the record it came from.

Nothing of a record is lost. HammerBench's labels are the gold, and stay as the data have them
(empty strings and lists too); the label of an irrelevant request (whose tool is not among the
candidates, so that no call is due) becomes a fact. CallNavi's questions are routing samples over
the whole catalog of their domain; a placeholder stays what it is, with evidence where an earlier
call of the question returns its value. ComplexFuncBench's are multi-step samples, with evidence
where it can be found.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, files_at, read_rows
from callwright.generators.catalogs.papers import (
    UNKNOWN_VALUE,
    hammerbench_builder,
    language_of_folder,
    put_hammerbench_tool,
    read_callnavi,
)
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    language_of_user,
    objects,
    read_each,
    unread,
)
from callwright.generators.multi_step.samples import add_evidence, kind_of_domain
from callwright.generators.routing.making import FAMILY as ROUTING
from callwright.generators.routing.tool_graph import returned_fields, unknown_evidence
from callwright.warehouse.counts import count_of
from callwright.warehouse.exports.papers import (
    ALIASES,
    DIFFICULTIES,
    FILES,
    MESSAGE_FIRST,
    MESSAGE_FIRST_QUERY,
    MESSAGE_LAST,
    QUESTIONS,
)
from callwright.warehouse.records import (
    Call,
    CallTurn,
    Evidence,
    GoldCall,
    Language,
    Message,
    Origin,
    PaperId,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    Turn,
    UserTurn,
)

KINDS: Mapping[str, str] = {  # file names, theirs and ours
    **{PurePosixPath(file.path).stem: kind for kind, file in FILES.items()},
    **{kind: kind for kind in FILES},
    **ALIASES,
}


def read_hammerbench(path: Path) -> Iterator[ImportedRecord]:
    """Read every record of a file or folder tree in order.

    The kind is known from the file's name or the record's id (`Based_0_3`); the language from
    the nearest folder named `en` or `zh`, or else from the request. Raises ConfigurationError if
    nothing is at the path.
    """
    builder = hammerbench_builder()
    files = files_at(path)
    return (record for file in files for record in _read_file(file, builder))


def _read_file(file: Path, builder: CatalogBuilder) -> Iterator[ImportedRecord]:
    rows = list(read_rows(file))
    if not any(
        isinstance(row, DocumentItem) and isinstance(row.value, dict) and "messages" in row.value
        for row in rows
    ):
        problem = next((row for row in rows if isinstance(row, Problem)), None)
        message = f"{file} holds no records with 'messages'; left out."
        found = problem or Problem(where=str(file), kind="other_format", message=message)
        yield unread(found)._replace(where=str(file))
        return
    language = language_of_folder(file)
    yield from read_each(
        rows, lambda row: _HammerBenchReader(row.where, builder).record(row.value, file, language)
    )


class _HammerBenchReader(RecordReader):
    """Reads one record; collects its problems, and the labels that no call is due for."""

    def __init__(self, where: str, builder: CatalogBuilder) -> None:
        super().__init__(where, builder)
        self._labels: list[GoldCall] = []

    def record(self, value: JsonValue, file: Path, language: Language | None) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        kind = _kind(file, fields)
        if kind is None:
            known = ", ".join(KINDS)
            self.refuse(
                f"Neither the file's name {file.stem!r} nor the id {shown(fields.get('id'))} is of"
                f" {known}"
            )
        turns = self._turns(fields.get("messages"), kind or "")
        rendered = language or language_of_user(turns)
        tools = self.tools_of(
            fields.get("multiple_tools"),
            "multiple_tools",
            lambda stated, at: put_hammerbench_tool(stated, at, rendered, self._builder),
            "candidate tools",
        )
        self.note_lost(fields, ("id", "messages", "multiple_tools", "single_tool"))
        if "single_tool" in fields and fields["single_tool"] != _due_tools(fields):
            message = (
                "'single_tool' is not the candidate that the labels call, which an export writes."
            )
            self.note("unknown_field", message)
        gold = [call for turn in turns if isinstance(turn, CallTurn) for call in turn.calls]
        first = next(iter((*gold, *self._labels)), None)
        labels = tuple(Call(tool=one.tool, arguments=one.arguments) for one in self._labels)
        name = PaperId("hammerbench", fields["id"]) if "id" in fields else None
        return self.imported(
            lambda: Sample(
                kind=kind or "",
                language=rendered,
                category=first.tool.rpartition(".")[0] if first else "",
                candidates=tuple(tool.key for tool in tools),
                turns=tuple(turns),
                facts=SampleFacts(paper_id=name, hammerbench_labels=labels),
                origin=Origin(stage="import_hammerbench"),
            ),
            tools,
        )

    def _turns(self, messages: JsonValue, kind: str) -> list[Turn]:
        if not isinstance(messages, list) or not messages:
            self.refuse(f"The messages are {shown(messages)}, not a list of messages")
            return []
        roles = [message.get("role") if isinstance(message, dict) else None for message in messages]
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            content = message.get("content") if isinstance(message, dict) else None
            following = roles[index + 1] if index + 1 < len(roles) else None
            turns += self._turn(roles[index], content, following, kind)
            fields = message if isinstance(message, dict) else ()
            self.note_lost(fields, {"role", "content"}, f"Message {index}")
        return turns

    def _turn(
        self, role: JsonValue, content: JsonValue, following: JsonValue, kind: str
    ) -> list[Turn]:
        """Return a message's turns; a user message without a label is one that no tool fits."""
        match role, content:
            case "user", str(text):
                if following == "function call":
                    return [_user_turn(text, kind)]
                if following == "assistant":
                    return [_user_turn(text, kind), CallTurn()]
                self.refuse(f"After the user's message {shown(text)} there is no label")
            case "assistant", str(text):
                return [ReplyTurn(text=text)]
            case "function call", {"name": str(name), "arguments": dict(arguments), **rest} if (
                name and not rest
            ):
                call = GoldCall(tool=name, arguments=arguments)
                if kind not in FILES or not FILES[kind].is_idle:
                    return [CallTurn(calls=(call,))]
                self._labels.append(call)
                return [CallTurn()]
            case _:
                self.refuse(f"A message of the role {shown(role)} has the content {shown(content)}")
        return []


def _kind(file: Path, fields: Fields) -> str | None:
    """Return the kind that the file's name or else the record's id gives; None if neither does."""
    identity = fields.get("id")
    prefix = identity.rsplit("_", 2)[0] if isinstance(identity, str) else ""
    names = (file.stem, f"HammerBench_{file.stem}", prefix, f"HammerBench_{prefix}")
    return next((KINDS[name] for name in names if name in KINDS), None)


def _user_turn(text: str, kind: str) -> UserTurn:
    """Return the user's turn, separate from the message that it refers to."""
    if kind in FILES and FILES[kind].is_single:
        message, separator, query = text.removeprefix(MESSAGE_FIRST).rpartition(MESSAGE_FIRST_QUERY)
        if separator and text.startswith(MESSAGE_FIRST):
            return UserTurn(text=query, external=Message(app="", text=message))
        return UserTurn(text=text)
    stated, separator, message = text.partition(MESSAGE_LAST)
    if separator:
        return UserTurn(text=stated, external=Message(app="", text=message))
    return UserTurn(text=text)


def _due_tools(fields: Fields) -> list[JsonValue]:
    """Return the candidates that the record's labels call."""
    contents = [message.get("content") for message in objects(fields.get("messages"))]
    called = [content.get("name") for content in contents if isinstance(content, dict)]
    return [tool for tool in objects(fields.get("multiple_tools")) if tool.get("name") in called]


HAMMERBENCH = SampleFormat("hammerbench", "HammerBench's records", read_hammerbench)


_KINDS = {str(kind.traits.difficulty): kind.name for kind in ROUTING.kinds}


def read_callnavi_samples(path: Path) -> Iterator[ImportedRecord]:
    """Read the questions of a CallNavi folder; ConfigurationError without tools or questions."""
    domains: dict[str, tuple[Tool, ...]] = {}
    for tool in read_callnavi(path).tools:
        domains[tool.category] = (*domains.get(tool.category, ()), tool)

    def read(row: DocumentItem, domain: str) -> ImportedRecord:
        return _CallNaviReader(row.where, domain, domains.get(domain, ())).record(row.value)

    for file in files_at(path / QUESTIONS):
        yield from read_each(read_rows(file), partial(read, domain=file.stem))


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
        self.note_lost(fields, ("id", "question", "ground_truth", "difficulty"))
        return self.imported(
            lambda: Sample(
                kind=_KINDS[str(difficulty)],
                language=language_of_user(turns),
                category=self._domain,
                candidates=tuple(tool.key for tool in self._tools),
                turns=(*turns, CallTurn(calls=tuple(calls))),
                facts=SampleFacts(
                    difficulty=str(difficulty), paper_id=PaperId("callnavi", identity)
                ),
                origin=Origin(stage="import_callnavi"),
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
            self.note(
                "no_parameters",
                "No parameters stand beside the names; each call is read as one without any.",
            )
            parameters = [{} for _ in names]
        calls: list[GoldCall] = []
        returned: dict[str, set[str]] = {}
        for tool in self._tools:
            returned.setdefault(tool.name, set()).update(returned_fields(tool))
        for name, given_arguments in zip(names, parameters, strict=False):
            if isinstance(name, str) and name and isinstance(given_arguments, dict):
                placeholder_evidence: list[Evidence] = []
                for argument in (
                    one for one, value in given_arguments.items() if value == UNKNOWN_VALUE
                ):
                    giving = [argument in returned.get(call.tool, ()) for call in calls]
                    if True in giving:  # the nearest call before that returns such a field
                        at = len(giving) - 1 - giving[::-1].index(True)
                        placeholder_evidence.append(unknown_evidence(argument, at, argument))
                calls.append(
                    GoldCall(
                        tool=name, arguments=given_arguments, evidence=tuple(placeholder_evidence)
                    )
                )
        if not len(calls) == len(names) == len(parameters):
            self.refuse(
                f"The ground truth is {shown(truth)}, not a name and parameters for each call"
            )
        for name in dict.fromkeys(call.tool for call in calls if call.tool not in returned):
            message = f"The gold names {name!r}, which is no tool of the domain {self._domain!r}."
            self.note("unresolvable_reference", message)
        return calls


CALLNAVI = SampleFormat(
    "callnavi", "CallNavi's questions with the calls that answer them", read_callnavi_samples
)


def read_complexfuncbench(path: Path) -> Iterator[ImportedRecord]:
    """Read the records of a file, or of a folder's .jsonl files; ConfigurationError if none."""
    # cross-domain records do not say whose a function is
    builder = CatalogBuilder("complexfuncbench", by_category=False)
    rows = chain.from_iterable(map(read_rows, files_at(path, ".jsonl")))
    yield from read_each(
        rows, lambda row: _ComplexFuncBenchReader(row.where, builder).record(row.value)
    )


class _ComplexFuncBenchReader(RecordReader):
    def record(self, value: JsonValue) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        identity = fields.get("id")
        if not isinstance(identity, str) or not identity:
            self.refuse(f"The id is {shown(identity)}, not a domain and a number")
        domain = str(identity).rpartition("-")[0] or str(identity)
        turns = self._turns(fields.get("conversations"))
        spoken = language_of_user(turns)
        category = domain.replace("-", " ")

        def put(stated: JsonValue, where: str) -> Tool | None:
            if not isinstance(stated, dict):
                self._builder.refuse(where, stated)
                return None
            name, description, parameters = (
                stated.get(field) for field in ("name", "description", "parameters")
            )
            return self._builder.put(
                ToolDraft(where, category, name, description, parameters, language=spoken)
            )

        tools = self.tools_of(fields.get("functions"), "functions", put)
        self.note_lost(fields, ("id", "functions", "conversations"))
        return self.imported(
            lambda: Sample(
                kind=kind_of_domain(domain),
                language=spoken,
                category=category,
                candidates=tuple(tool.key for tool in tools),
                turns=add_evidence(turns, {tool.name: tool for tool in tools}),
                facts=SampleFacts(paper_id=PaperId("complexfuncbench", identity)),
                origin=Origin(stage="import_complexfuncbench"),
            ),
            tools,
        )

    def _turns(self, messages: JsonValue) -> list[Turn]:
        if not isinstance(messages, list) or not messages:
            self.refuse(f"The conversation is {shown(messages)}, not a list of messages")
            return []
        turns: list[Turn] = []
        for index, message in enumerate(messages):
            fields = message if isinstance(message, dict) else {}
            turns += self._turn(fields, turns[-1] if turns else None)
            self.note_lost(fields, {"role", "content", "function_call"}, f"Message {index}")
        if turns and isinstance(turns[-1], CallTurn):
            self.refuse("The last calls have no observation")
        if turns and not isinstance(turns[0], UserTurn):
            self.refuse("The conversation does not begin with the user")
        return turns

    def _turn(self, message: Fields, before: Turn | None) -> list[Turn]:
        """Return a message's turn; an observation must follow calls, with one response for each."""
        expected = len(before.calls) if isinstance(before, CallTurn) else None
        match message:
            case {"role": "observation", "content": list(content)} if len(content) == expected:
                return [ResultTurn(results=tuple(content))]
            case {"role": "assistant", "function_call": list(listed)} if (
                expected is None and listed
            ):
                if message.get("content"):
                    lost = "A message with calls has a content too, which a sample does not keep."
                    self.note("unknown_field", lost)
                return [CallTurn(calls=tuple(self.calls_of(listed)), executed=True)]
            case {"role": "user", "content": str(text)} if expected is None:
                return [UserTurn(text=text)]
            case {"role": "assistant", "content": str(text)} if expected is None:
                return [ReplyTurn(text=text)]
            case _:
                after = "" if expected is None else f" after {count_of(expected, 'call')}"
                self.refuse(
                    f"A message of the role {shown(message.get('role'))}{after} is {shown(message)}"
                )
        return []


COMPLEXFUNCBENCH = SampleFormat(
    "complexfuncbench", "ComplexFuncBench's records", read_complexfuncbench
)
