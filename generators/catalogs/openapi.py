"""Tools of a Swagger 2.0 or an OpenAPI 3.0 or 3.1 description: one operation, one tool.

A tool's parameters are the operation's path and query parameters, the headers and cookies it
requires, and the members of its JSON body, side by side; a body that is no plain object is one
parameter `body`. Where each goes in a request is kept beside the tool (`Operation.places`), not in
its schema. A body that holds everything in one member is unwrapped, and wrapped again in a request.
Read-only members are left out of what is sent, those that are written only out of what comes back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.api_documents import (
    METHODS,
    Fields,
    as_path_item,
    is_swagger,
    read_bundle,
)
from callwright.generators.catalogs.api_parts import (
    BodyFields,
    LinkTarget,
    PlacedParameter,
    PlacedParameters,
    fields_of,
    find_plumbing,
    links_in,
    mapping_of,
    wrapped_in,
)
from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft, checked_keywords
from callwright.generators.catalogs.catalog import (
    FATAL,
    Catalog,
    CatalogFormat,
    Note,
    Problem,
    StatedError,
    StatedLink,
    ToolOrigin,
    merged,
    shown,
)
from callwright.generators.catalogs.descriptions import described, plain_text
from callwright.generators.catalogs.documents import existing, read_text, the_file
from callwright.generators.catalogs.idioms import as_json_schema, before
from callwright.generators.catalogs.rewriting import (
    Shortened,
    Side,
    resolve,
    rewrite_upper,
    shortened,
)
from callwright.language.names import split_name
from callwright.language.packs import document_language
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Language

EXPECTED = "a Swagger 2.0 or an OpenAPI 3.0 or 3.1 description in JSON or YAML"
IGNORED_HEADERS = ("accept", "authorization", "content-type")  # by the specification, no parameters
SUCCESSES = ("200", "201", "202", "203", "2XX", "2xx", "default")
LONGEST_CHAIN = 16
MOST_RETURNED = (
    1_000  # parts of a result's schema, written out: of Kubernetes' tools some have thousands
)
MOST_DECLARED = 60  # parts of an error's schema
MOST_TAKEN = 300  # parts of a tool's parameters: more are no signature that a model reads
MOST_WRAPPERS = 2
Part = Literal["path", "query", "header", "cookie", "body"]
PARTS: Mapping[JsonValue, Part] = {
    "path": "path",
    "query": "query",
    "header": "header",
    "cookie": "cookie",
}
_SUFFIXES = (".json", ".yaml", ".yml")
_VERSION = re.compile(r"""^[\s{]*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]""", re.MULTILINE)
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_NO_PLAIN = re.compile(
    r"[^\w-]+"
)  # what makes a path of a name: "filter[status]", "user.fields", "$top"


class ParameterPlace(NamedTuple):
    """Where a tool's parameter goes in the request: the part, and its name there ("" for the whole
    body).

    `within` are the members of the body that hold it, the outermost first: all of a body's
    parameters have the same.
    """

    parameter: str
    part: Part
    name: str
    within: tuple[str, ...] = ()


class Operation(NamedTuple):
    """One operation: its tool as stated, and what a request of it needs; `tags` are what the
    document sorts it under.

    `links` say which parameters of other operations its response gives, as far as the document
    states them.
    """

    draft: ToolDraft
    method: str
    path: str
    places: tuple[ParameterPlace, ...]
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    errors: tuple[StatedError, ...] = ()


class ReadDocument(NamedTuple):
    """A description: its operations, the language that it is written in, the files it came from,
    and what was odd in them.
    """

    operations: tuple[Operation, ...]
    language: Language | None
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def read_openapi(path: Path) -> Catalog:
    """The operations' tools; the first tag is the category, or else the path's first segment.

    A folder is all its descriptions.
    """
    if not existing(path).is_dir():
        return _catalog(path, read_document(path))
    found = sorted(one for suffix in _SUFFIXES for one in path.rglob(f"*{suffix}") if one.is_file())
    texts = {one: read_text(one) for one in found}
    descriptions = [
        one for one, text in texts.items() if isinstance(text, str) and _VERSION.search(text)
    ]
    if not descriptions:
        raise ConfigurationError(
            f"The folder {str(path)!r} holds no description of an API; {EXPECTED} is expected."
        )
    read = {one: read_document(one, path) for one in descriptions}
    # what has no operation is there for those that refer to it
    held = {one: document for one, document in read.items() if document.operations} or read
    whole = merged([_catalog(one, document) for one, document in held.items()])
    known = {*descriptions, *(file.resolve() for file in whole.files)}
    odd = [  # neither descriptions nor parts of them
        Problem(
            where=str(one),
            kind="other_format",
            message=f"{str(one)!r} is no description of an API; left out.",
        )
        for one in found
        if not known & {one, one.resolve()}
    ]
    # without files, for it is read again: there may be others by then
    return whole.with_changes(problems=(*whole.problems, *odd), files=())


def _catalog(path: Path, document: ReadDocument) -> Catalog:
    builder = CatalogBuilder("openapi", language=document.language)
    builder.problems += document.problems
    origins = []
    for one in document.operations:
        tool = builder.put(one.draft)
        if tool is not None:
            origins.append(
                ToolOrigin(tool.key, one.method, one.path, one.tags, one.links, one.errors)
            )
    return builder.catalog(path, EXPECTED).with_changes(
        origins=tuple(origins), files=document.files
    )


def read_operations(path: Path) -> tuple[Operation, ...]:
    """Every operation with the places of its parameters.

    Raises ConfigurationError where this is no description.
    """
    return read_document(path).operations


def read_document(path: Path, folder: Path | None = None) -> ReadDocument:
    """All that a description states, with the files of `folder` (its own unless said) that it
    refers to.

    Raises ConfigurationError where it is of no version that is read.
    """
    bundle = read_bundle(the_file(path, EXPECTED), folder)
    fields = mapping_of(bundle.document)
    version = fields.get("openapi", fields.get("swagger"))
    if not is_swagger(fields) and ("openapi" not in fields or not str(version).startswith("3.")):
        named = (
            f"names the version {shown(version)}"
            if version is not None
            else f"begins with {shown([*fields][:3])}"
        )
        raise ConfigurationError(f"{str(path)!r} {named}; {EXPECTED} is expected.")
    operations = _with_plumbing(_linked(tuple(_operations(fields, path)), fields))
    language = document_language(_text(one.draft.description) for one in operations)
    return ReadDocument(
        operations, language, bundle.files, (*bundle.problems, *_lost_paths(fields, path))
    )


def _with_plumbing(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The operations, each with those of its parameters that nobody says."""
    placed = []
    for one in operations:
        schemas = mapping_of(mapping_of(one.draft.parameters).get("properties"))
        parameters = (
            PlacedParameter(at.parameter, at.part, at.name, mapping_of(schemas.get(at.parameter)))
            for at in one.places
        )
        placed.append(PlacedParameters(one.method, tuple(parameters), _returned(one.draft)))
    return tuple(
        one._replace(draft=one.draft._replace(plumbing=names)) if names else one
        for one, names in zip(operations, find_plumbing(placed), strict=True)
    )


def _returned(draft: ToolDraft) -> JsonSchema | None:
    return draft.returns if isinstance(draft.returns, dict) else None


def _linked(operations: Sequence[Operation], document: Fields) -> tuple[Operation, ...]:
    """The operations with the links that their responses state."""
    targets: dict[str, LinkTarget] = {}
    for one in operations:
        stated = [at for at in one.places if at.part != "body"]
        named = {
            at.name: at.parameter for at in reversed(stated)
        }  # as links name them, the part in front or not
        named |= {f"{at.part}.{at.name}": at.parameter for at in stated}
        target = LinkTarget(one.method, one.path, named)
        targets.setdefault(str(one.draft.name), target)
        targets[f"{_place('', one.path)}/{one.method}"] = target
    return tuple(_with_links(one, document, targets) for one in operations)


def _with_links(
    operation: Operation, document: Fields, targets: Mapping[str, LinkTarget]
) -> Operation:
    item = _resolved(mapping_of(document.get("paths")).get(operation.path), document)
    responses = mapping_of(_resolved(item.get(operation.method), document).get("responses"))
    answers = (_resolved(responses.get(code), document) for code in SUCCESSES)
    links, notes = links_in(
        answers, _returned(operation.draft), lambda value: _resolved(value, document), targets
    )
    if not links and not notes:
        return operation
    draft = operation.draft._replace(notes=(*operation.draft.notes, *notes))
    return operation._replace(draft=draft, links=links)


def _lost_paths(document: Fields, path: Path) -> Iterator[Problem]:
    """A path whose reference leads nowhere in the file; those to other files are reported where
    they are followed.
    """
    for template, stated in mapping_of(document.get("paths")).items():
        pointer = _resolved(stated, document).get("$ref")
        if isinstance(pointer, str) and pointer.startswith("#"):
            message = (
                f"The path {shown(template)} is at {shown(pointer)}, which is nothing in this file;"
                " left out."
            )
            yield Problem(
                where=_place(path, template), kind="unresolvable_reference", message=message
            )


def _place(path: Path | str, template: str) -> str:
    return f"{path}#/paths/{template.replace('~', '~0').replace('/', '~1')}"


def _operations(document: Fields, path: Path) -> Iterator[Operation]:
    shared = _Shared(
        document,
        Side(document, before, _written, "readOnly", {}, {}),
        Side(document, before, _written, "writeOnly", {}, {}),
        Shortened(),
    )
    is_old = is_swagger(document)
    for template, stated in mapping_of(document.get("paths")).items():
        item = _resolved(stated, document)
        if is_old:
            item = as_path_item(item, document, lambda value: _resolved(value, document))
        for method in METHODS:
            operation = _resolved(item.get(method), document)
            if operation:
                where = f"{_place(path, template)}/{method}"
                yield _OperationReader(shared).operation(operation, item, method, template, where)


def _summary(operation: Fields) -> JsonValue:
    """The summary; None where it is the operation's name once more, and a description says what
    it does.
    """
    summary, name, description = (
        operation.get(key) for key in ("summary", "operationId", "description")
    )
    is_name = (
        isinstance(summary, str)
        and not re.search(r"\s", summary.strip())
        and len(split_name(summary)) > 1
    )
    is_repeated = (
        is_name and isinstance(name, str) and split_name(_text(summary)) == split_name(name)
    )
    return None if is_repeated and plain_text(_text(description)).strip() else summary


def _written(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    return checked_keywords(as_json_schema(schema, notes), notes)


class _Shared(NamedTuple):
    """What the operations of a document share: what was written out for requests and for
    responses, and what was cut.
    """

    document: Fields
    sent: Side
    returned: Side
    cut: Shortened


class _OperationReader:
    """Reads one operation: the parameters gathered so far, and what was odd about them."""

    def __init__(self, shared: _Shared) -> None:
        self._document = shared.document
        self._shared = shared
        self._is_cut = False
        self._properties: JsonSchema = {}
        self._required: list[str] = []
        self._places: list[ParameterPlace] = []
        self._fewest = 0
        self._notes: list[Note] = []

    def operation(
        self, operation: Fields, item: Fields, method: str, template: str, where: str
    ) -> Operation:
        if "$ref" in operation:
            self._followed(operation)  # it leads nowhere, or it would have been followed
        for parameter in self._parameters(operation, item):
            self._add_parameter(parameter)
        self._add_body(operation.get("requestBody"))
        schema = self._taken()
        name = operation.get("operationId")
        if name is None:
            name = f"{method}_{_NO_NAME.sub('_', template).strip('_')}".rstrip("_")
            self._notes.append(
                Note("generated_name", f"There is no operationId; the tool is called {name!r}.")
            )
        draft = ToolDraft(
            where=where,
            category=_category(operation, template),
            name=name,
            description=described(_summary(operation), operation.get("description")),
            parameters=schema,
            returns=self._returns(operation.get("responses")),
            notes=tuple(self._notes),
        )
        errors = tuple(self._errors(operation.get("responses")))
        return Operation(
            draft, method, template, tuple(self._places), _tags(operation), errors=errors
        )

    def _taken(self) -> JsonSchema:
        """The parameters, their upper levels where they are more than a model reads."""
        whole: JsonSchema = {"type": "object", "properties": self._properties}
        if self._required:
            whole["required"] = self._required
        if self._fewest:
            whole["minProperties"] = self._fewest
        schema, level = shortened(whole, MOST_TAKEN, self._shared.cut)
        if self._is_cut or level:
            kept = schema["properties"]
            cut = [name for name, one in self._properties.items() if kept[name] != one]
            how = (
                f"{shown(cut)} are kept down to level {level}"
                if cut
                else "what stands deepest is left out"
            )
            message = f"The parameters have over {MOST_TAKEN} parts; {how}."
            self._notes.append(Note("shortened_parameters", message))
        return schema

    def _parameters(self, operation: Fields, item: Fields) -> list[Fields]:
        """The path's parameters and the operation's own, which stand in for those of the same
        name and place.
        """
        found: dict[str, Fields] = {}
        for owner in (item, operation):
            listed = owner.get("parameters")
            for stated in listed if isinstance(listed, list) else []:
                parameter = self._followed(stated)
                found[f"{parameter.get('in')} {parameter.get('name')}"] = parameter
        return list(found.values())

    def _followed(self, stated: JsonValue) -> Fields:
        """What a stated object or reference stands for; a dead reference is noted, which leaves
        the tool out.
        """
        fields = _resolved(stated, self._document)
        if "$ref" in fields:
            message = (
                f"The reference {shown(fields['$ref'])} points at nothing in this file; left out."
            )
            self._notes.append(Note("unresolvable_reference", message))
        return fields

    def _add_parameter(self, parameter: Fields) -> None:
        if "$ref" in parameter:
            return
        name, part = parameter.get("name"), PARTS.get(_text(parameter.get("in")))
        if not isinstance(name, str) or not name or part is None:
            message = (
                f"A parameter named {shown(name)} in {shown(parameter.get('in'))} has no place;"
                " dropped."
            )
            self._notes.append(Note("unsupported", message))
            return
        if part == "header" and name.lower() in IGNORED_HEADERS:
            return
        if part in ("header", "cookie") and parameter.get("required") is not True:
            message = (
                f"The optional {part} {name!r} is set by a client, not said by a person; dropped."
            )
            self._notes.append(Note("set_by_client", message))
            return
        contents = mapping_of(parameter.get("content")).values()
        stated = parameter.get(
            "schema", next((mapping_of(one).get("schema") for one in contents), None)
        )
        schema = self._schema({} if stated is None else stated)
        beside: Fields = {}
        if isinstance(parameter.get("description"), str):
            beside["description"] = plain_text(_text(parameter["description"]))
        if "example" in parameter and "examples" not in schema and not schema.get("enum"):
            beside["examples"] = [parameter["example"]]
        self._add(
            name,
            {**schema, **beside},
            part,
            name,
            needed=part == "path" or parameter.get("required") is True,
        )

    def _add_body(self, stated: JsonValue) -> None:
        if stated is None:
            return
        body = self._followed(stated)
        if "$ref" in body:
            return
        media = _json_schema_of(body.get("content"))
        if media is None:
            message = (
                f"The body is {shown(sorted(mapping_of(body.get('content'))))}, which holds no"
                " JSON; dropped."
            )
            self._notes.append(Note("unsupported", message))
            return
        schema, needed = self._schema(media), body.get("required") is True
        fields = fields_of(schema)
        if fields is None:
            self._add("body", schema, "body", "", needed=needed)
            return
        wrappers, fields = self._unwrapped(fields)
        self._notes.extend(fields.notes)
        if "required" not in body and fields.required:
            needed = True
            message = (
                "Whether the body is required is not stated; its required members"
                f" {shown([*fields.required])} are kept required."
            )
            self._notes.append(Note("assumed_required", message))
        for name, member in fields.properties.items():
            self._add(
                name,
                member,
                "body",
                name,
                needed=needed and name in fields.required,
                within=wrappers,
            )
        if needed and fields.properties and not fields.required:
            self._fewest = len(self._required) + 1  # a body is required, and one of nothing is none

    def _unwrapped(self, fields: BodyFields) -> tuple[tuple[str, ...], BodyFields]:
        """The members that hold everything else, such as `data`, and what stands in them."""
        wrappers: tuple[str, ...] = ()
        while len(wrappers) < MOST_WRAPPERS and (found := wrapped_in(fields)):
            wrappers, fields = (*wrappers, found[0]), found[1]
        if wrappers:
            message = (
                f"The body holds everything in {'.'.join(wrappers)!r}; what stands there are"
                " parameters."
            )
            self._notes.append(Note("unwrapped_body", message))
        return wrappers, fields

    def _add(
        self,
        wanted: str,
        schema: JsonValue,
        part: Part,
        name: str,
        *,
        needed: bool,
        within: tuple[str, ...] = (),
    ) -> None:
        """Add one parameter under a plain name; where that is taken, the part's name goes in
        front.
        """
        plain = parameter = (
            _NO_PLAIN.sub("_", wanted).strip("_") if _NO_PLAIN.search(wanted) else wanted
        )
        if not plain:
            plain = parameter = wanted
        if plain != wanted:
            message = (
                f"{wanted!r} reads as a path, and models take no such name; the parameter is called"
                f" {plain!r}."
            )
            self._notes.append(Note("generated_name", message))
        while parameter in self._properties:
            parameter = f"{part}_{parameter}"
        if parameter != plain:
            message = (
                f"{wanted!r} stands in two parts of the request; the one in the {part} is called"
                f" {parameter!r}."
            )
            self._notes.append(Note("name_collision", message))
        self._properties[parameter] = schema
        self._places.append(ParameterPlace(parameter, part, name, within))
        if needed:
            self._required.append(parameter)

    def _schema(self, stated: JsonValue) -> JsonSchema:
        if isinstance(stated, bool):
            return {} if stated else {"not": {}}
        if not isinstance(stated, dict):
            self._notes.append(
                Note("invalid_schema", f"A parameter's schema is {shown(stated)}; left out.")
            )
            return {}
        (schema, notes), is_cut = rewrite_upper(stated, self._shared.sent)
        self._is_cut = self._is_cut or is_cut
        self._notes.extend(notes)
        return schema

    def _returns(self, responses: JsonValue) -> JsonSchema | None:
        """What the first success returns as JSON; a schema that can't be used is noted and left
        open.
        """
        stated = mapping_of(responses)
        for code in SUCCESSES:
            media = _json_schema_of(_resolved(stated.get(code), self._document).get("content"))
            if isinstance(media, dict):
                (schema, notes), is_cut = rewrite_upper(media, self._shared.returned)
                fatal = [note for note in notes if note.kind in FATAL]
                if fatal:
                    self._notes.append(
                        Note("untyped_return", f"The result is left open: {fatal[0].message}")
                    )
                    return None
                kept, level = shortened(schema, MOST_RETURNED, self._shared.cut)
                if level or is_cut:
                    how = (
                        f"kept down to level {level}"
                        if level
                        else "kept as far as it could be written out"
                    )
                    message = f"The result's schema has over {MOST_RETURNED} parts; it is {how}."
                    self._notes.append(Note("shortened_return", message))
                return kept
        return None

    def _errors(self, responses: JsonValue) -> Iterator[StatedError]:
        """The bodies of the errors that are declared as JSON; what can't be used of them is left
        out.
        """
        stated = mapping_of(responses)
        for code in stated:
            if not (code.startswith("4") or (code == "default" and len(stated) > 1)):
                continue
            media = _json_schema_of(_resolved(stated[code], self._document).get("content"))
            if isinstance(media, dict):
                (schema, notes), _ = rewrite_upper(media, self._shared.returned)
                if not any(note.kind in FATAL for note in notes):
                    yield StatedError(code, shortened(schema, MOST_DECLARED, self._shared.cut)[0])


def _tags(operation: Fields) -> tuple[str, ...]:
    tags = operation.get("tags")
    return (
        tuple(tag for tag in tags if isinstance(tag, str) and tag) if isinstance(tags, list) else ()
    )


def _category(operation: Fields, template: str) -> str:
    tags = operation.get("tags")
    if isinstance(tags, list) and tags and isinstance(tags[0], str) and tags[0]:
        return tags[0]
    segments = [
        segment for segment in template.split("/") if segment and not segment.startswith("{")
    ]
    return segments[0] if segments else "root"


def _resolved(stated: JsonValue, document: Fields) -> Fields:
    """An object with its reference followed; the reference itself where it leads nowhere."""
    fields = mapping_of(stated)
    for _ in range(LONGEST_CHAIN):
        pointer = fields.get("$ref")
        found = resolve(pointer, document) if isinstance(pointer, str) else None
        if not isinstance(found, dict):
            break
        fields = found
    return fields


def _json_schema_of(content: JsonValue) -> JsonValue:
    """The schema of the JSON body, or else of a form; None where there is neither."""
    media = mapping_of(content)
    for wanted in ("json", "x-www-form-urlencoded", "form-data"):
        for kind, stated in media.items():
            if kind.split(";")[0].strip().lower().endswith(wanted):
                return mapping_of(stated).get("schema", {})
    return mapping_of(media.get("*/*")).get("schema")


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


FORMAT = CatalogFormat("openapi", read_openapi)
