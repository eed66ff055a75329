"""Annotations of tools become reviews: an edited tool must be a tool, and nothing typed is lost."""

import re

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from annotation.answers import read_answers, require_subject, review_of, typed_into
from annotation.pulled import PulledAnnotation
from annotation.task import Returned
from annotation.tool_task import TypedTool, boxes, written_returned
from annotation.typed_values import check_storable, read_json
from warehouse.errors import RecordError
from warehouse.records import JsonSchema, Record, Review, Tool

_NAME = re.compile(r"[A-Za-z][\w.\-/]*")


class ParsedToolReview(Record):
    """What one annotation says: a review, with the edited tool where the decision is "edit"; or an edit that goes back.

    A skipped task says neither.
    """

    review: Review | None = None
    edited: Tool | None = None
    returned: Returned | None = None


def parse_tool_review(pulled: PulledAnnotation, tool: Tool) -> ParsedToolReview:
    """The review that an annotation of `tool` holds.

    Raises AnnotationError where the annotation does not fit the tool or our screen at all.
    """
    require_subject(pulled, tool.key)
    if pulled.skipped:
        return ParsedToolReview()
    answers = read_answers(pulled)
    typed = _typed(pulled, tool)
    if answers.problem:
        return _returned(pulled, typed, answers.problem)
    if answers.decision != "edit":
        return ParsedToolReview(review=review_of(pulled, answers, answers.decision, None))
    if typed_into(pulled, "edited_parameters") is None:
        return _returned(pulled, typed, "The box with the parameters was left empty.")
    try:
        edited = edited_tool(tool, typed)
    except RecordError as problem:
        return _returned(pulled, typed, str(problem))
    if edited.key == tool.key:  # nothing was changed after all
        return ParsedToolReview(review=review_of(pulled, answers, "accept", None))
    return ParsedToolReview(review=review_of(pulled, answers, "edit", edited.key), edited=edited)


def edited_tool(tool: Tool, typed: TypedTool) -> Tool:
    """The tool as it was typed; RecordError says why it is none."""
    for text in (typed.name, typed.description):
        check_storable(text, "The tool")
    name, description = typed.name.strip(), " ".join(typed.description.split())
    if not _NAME.fullmatch(name):
        raise RecordError(f"{name!r} is no name for a tool: letters, digits, dots and underscores, a letter first.")
    if not description:
        raise RecordError("The tool needs a description.")
    return tool.with_changes(name=name, description=description, parameters=read_schema(typed.parameters))


def read_schema(text: str) -> JsonSchema:
    """The schema of a tool's parameters that `text` holds; RecordError says why it holds none."""
    schema = read_json(text, "The schema of the parameters")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise RecordError('The parameters must be the schema of an object: {"type": "object", "properties": {…}}.')
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(isinstance(one, dict) for one in properties.values()):
        raise RecordError('"properties" must hold a schema for each parameter, by its name.')
    _check_schema(schema)
    required = schema.get("required", [])
    undeclared = [name for name in required if name not in properties] if isinstance(required, list) else []
    if undeclared:
        raise RecordError(f"{undeclared[0]!r} is required, but no parameter has this name.")
    return schema


def _check_schema(schema: JsonSchema) -> None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        place = ".".join(map(str, error.absolute_path)) or "the top"
        raise RecordError(f"The parameters are no JSON Schema at {place}: {error.message[:300]}.") from error


def _typed(pulled: PulledAnnotation, tool: Tool) -> TypedTool:
    """What the boxes hold; those that nobody touched hold the tool's own."""
    before = boxes(tool)
    held = {field: typed_into(pulled, f"edited_{field}") for field in TypedTool.model_fields}
    return before.with_changes(**{field: text for field, text in held.items() if text is not None})


def _returned(pulled: PulledAnnotation, typed: TypedTool, problem: str) -> ParsedToolReview:
    return ParsedToolReview(returned=written_returned(typed, problem, pulled.version))
