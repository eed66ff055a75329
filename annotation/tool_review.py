"""The review of tools: what an annotator sees of a tool, and how an annotation is read."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import JsonValue

from callwright.annotation.calls import check_storable, read_json
from callwright.annotation.doubts import doubt_sentences, fact_sentence
from callwright.annotation.rendering import Line, describe_tool, parameter_facts
from callwright.annotation.reviews import (
    ChosenVerdicts,
    ParsedReview,
    ReviewTask,
    Typed,
    UnusableEdit,
    parse_annotation,
    typed_into,
    version_after,
    why_asked,
)
from callwright.annotation.screens import TOOL_REVIEW, ToolWords, tool_words_in, words_in
from callwright.annotation.studio.records import PulledAnnotation
from callwright.warehouse.errors import RecordError
from callwright.warehouse.records import (
    DEFAULT_LANGUAGE,
    DoubtedFact,
    JsonSchema,
    Language,
    Record,
    Tool,
    Verdict,
)

_NAME = re.compile(r"[A-Za-z][\w.\-/]*")


class TypedTool(Record):
    """A tool as the text boxes of the screen hold it."""

    name: str
    description: str
    parameters: str


class ToolSurroundings(NamedTuple):
    """What is shown beside a tool: its toolset, with its duplicate, and gaps in its category."""

    tools: Sequence[Tool]
    gaps: Sequence[DoubtedFact] = ()


class ToolTask(ReviewTask):
    """A task for annotators of tools; `name`, `description`, `parameters` fill the edit boxes."""

    kind: str = TOOL_REVIEW
    tool: tuple[Line, ...]
    twin: str
    company: str
    gaps: str
    name: str
    description: str
    parameters: str


def tool_task(
    tool: Tool,
    company: ToolSurroundings,
    verdicts: Sequence[Verdict],
    *,
    reason: str,
    language: Language = DEFAULT_LANGUAGE,
    returned: UnusableEdit | None = None,
) -> ToolTask:
    """Return the task that asks people about `tool`.

    With `returned` the task hands back an unusable edit.
    """
    words, general = tool_words_in(language), words_in(language)
    typed = read_returned(returned) if returned else boxes(tool)
    place = (tool.category, tool.language)
    near = (one for one in company.tools if one.key != tool.key)
    others = [one for one in near if (one.category, one.language) == place]
    why = "\n".join(doubt_sentences((), verdicts, general)) or reason
    twins = (_described(twin, words, language) for twin in _duplicates(others, verdicts))
    return ToolTask(
        subject=tool.key,
        version=version_after(returned),
        title=" · ".join((tool.category, tool.language)),
        why=why_asked(why, returned, words.returned),
        tool=tuple(_lines(tool, words, language)),
        twin="\n\n".join(twins) or words.no_twin,
        company="\n".join(f"{one.name}: {one.description}" for one in others) or words.none,
        gaps="\n".join(fact_sentence(fact, (), general) for fact in company.gaps) or words.none,
        name=typed.name,
        description=typed.description,
        parameters=typed.parameters,
    )


def read_returned(returned: UnusableEdit) -> TypedTool:
    """Return the typed tool of an edit that came back."""
    name, _, description = returned.request.partition("\n")
    return TypedTool(name=name, description=description, parameters=returned.calls)


def boxes(tool: Tool) -> TypedTool:
    """Return the contents of the boxes before a person edits them."""
    parameters = write_schema(tool.parameters)
    return TypedTool(name=tool.name, description=tool.description, parameters=parameters)


def write_schema(schema: JsonValue) -> str:
    """Return a schema as people read and edit it."""
    return json.dumps(schema, ensure_ascii=False, indent=2)


def _lines(tool: Tool, words: ToolWords, language: Language) -> Iterator[Line]:
    """Yield the tool as a table: name, description, each parameter, and what it returns."""
    yield Line(author=words.name, text=tool.name)
    yield Line(author=words.description, text=tool.description)
    for name, facts in parameter_facts(tool, words_in(language)):
        yield Line(author=name, text=facts)
    yield Line(author=f"→ {words.returns}", text=", ".join(_results(tool)) or words.none)


def _results(tool: Tool) -> list[str]:
    results = tool.returns.get("properties") if tool.returns else None
    return [*results] if isinstance(results, dict) else []


def _described(tool: Tool, words: ToolWords, language: Language) -> str:
    rendered = describe_tool(tool, words_in(language))
    results = _results(tool)
    return f"{rendered}\n→ {words.returns}: {', '.join(results)}" if results else rendered


def _duplicates(others: Sequence[Tool], verdicts: Sequence[Verdict]) -> list[Tool]:
    proofs = (proof for verdict in verdicts for proof in verdict.evidence)
    named = {proof.path for proof in proofs if proof.argument == "twin"}
    return [one for one in others if one.key in named]


def parse_tool_review(pulled: PulledAnnotation, tool: Tool) -> ParsedReview:
    """Return the review in an annotation of `tool`; an edit must be a valid tool.

    Nothing that was typed is lost.
    """

    def read(_answers: ChosenVerdicts) -> Typed:
        before = boxes(tool)
        held = {field: typed_into(pulled, f"edited_{field}") for field in TypedTool.model_fields}
        changes = {field: text for field, text in held.items() if text is not None}
        typed = before.with_changes(**changes)

        def edited() -> Tool:
            if held["parameters"] is None:
                raise RecordError("The box with the parameters was left empty.")
            return edited_tool(tool, typed)

        # A name has no line breaks, so the description comes after the first.
        request = f"{' '.join(typed.name.split())}\n{typed.description}"
        return Typed(edited, request, typed.parameters)

    return parse_annotation(pulled, tool.key, read)


def edited_tool(tool: Tool, typed: TypedTool) -> Tool:
    """Return the tool as it was typed. Raises RecordError if it isn't valid."""
    for text in (typed.name, typed.description):
        check_storable(text, "The tool")
    name, description = typed.name.strip(), " ".join(typed.description.split())
    if not _NAME.fullmatch(name):
        raise RecordError(
            f"{name!r} is not a valid tool name. Use letters, digits, dots and underscores,"
            " with a letter first."
        )
    if not description:
        raise RecordError("The tool needs a description.")
    parameters = read_schema(typed.parameters)
    return tool.with_changes(name=name, description=description, parameters=parameters)


def read_schema(text: str) -> JsonSchema:
    """Return the schema of a tool's parameters in `text`. Raises RecordError if it isn't valid."""
    schema = read_json(text, "The schema of the parameters")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise RecordError(
            'The parameters must be the schema of an object: {"type": "object", "properties": {…}}.'
        )
    properties = schema.get("properties", {})
    members = properties if isinstance(properties, dict) else {"": None}
    if not all(isinstance(one, dict) for one in members.values()):
        raise RecordError('"properties" must hold a schema for each parameter, by its name.')
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "the top"
        problem = f"The parameters are not a valid JSON Schema at {place}: {error.message[:300]}."
        raise RecordError(problem) from error
    required = schema.get("required", [])
    listed = required if isinstance(required, list) else ()
    undeclared = [name for name in listed if name not in members]
    if undeclared:
        raise RecordError(f"{undeclared[0]!r} is required, but no parameter has this name.")
    return schema
