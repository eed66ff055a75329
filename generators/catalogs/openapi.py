"""Tools of a Swagger 2.0 or an OpenAPI 3.0 or 3.1 description: one operation, one tool.

A tool's parameters are the operation's path and query parameters, the headers and cookies it
requires, and the members of its JSON body, side by side; a body that is not a plain object is
one parameter `body`. Where each goes in a request is kept beside the tool (`Operation.places`),
not in its schema. A body that holds everything in one member is unwrapped, and wrapped again in
requests. Requests leave out read-only members, responses leave out write-only ones.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

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
    rules_stated,
    wrapped_in,
)
from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft, usable_original
from callwright.generators.catalogs.catalog import (
    FATAL,
    Catalog,
    CatalogFormat,
    Note,
    Problem,
    ProblemKind,
    StatedError,
    StatedLink,
    ToolOrigin,
    merged,
    shown,
)
from callwright.generators.catalogs.descriptions import described, plain_text
from callwright.generators.catalogs.documents import existing, read_text, the_file
from callwright.generators.catalogs.identifiers import with_shown_ids
from callwright.generators.catalogs.idioms import as_json_schema, before
from callwright.generators.catalogs.namesakes import with_told_forms
from callwright.generators.catalogs.rewriting import (
    Rewritten,
    Shortened,
    Side,
    resolve,
    rewrite_upper,
    shortened,
    with_definitions,
)
from callwright.generators.catalogs.soundness import checked_keywords
from callwright.generators.catalogs.summaries import Summarised, clear_descriptions
from callwright.language.names import deed_of, names_one, split_name
from callwright.language.packs import document_language
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import JsonSchema, Language, Original

EXPECTED = "a Swagger 2.0 or an OpenAPI 3.0 or 3.1 description in JSON or YAML"
IGNORED_HEADERS = ("accept", "authorization", "content-type")  # by the specification, no parameters
SUCCESSES = ("200", "201", "202", "203", "2XX", "2xx", "default")
LONGEST_CHAIN = 16
# parts of a result's schema, written out: of Kubernetes' tools some have thousands
MOST_RETURNED = 1_000
MOST_DECLARED = 60  # parts of an error's schema
MOST_TAKEN = 300  # parts of a tool's parameters: more are no signature that a model reads
MOST_WRAPPERS = 2
Part = Literal["path", "query", "header", "cookie", "body"]
PARTS: Mapping[JsonValue, Part] = {part: part for part in get_args(Part) if part != "body"}
_CHANGING = frozenset({"put", "patch"})
_TEXT_BODIES = ("text/plain", "text/csv", "text/html", "text/markdown")
_SUFFIXES = (".json", ".yaml", ".yml")
_VERSION = re.compile(r"""^[\s{]*["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]""", re.MULTILINE)
# what of a body is about several fields, and is lost where they stand side by side
_TOGETHER = frozenset({"oneOf", "anyOf", "minProperties", "maxProperties"})
_REDUCING = frozenset({"circular_reference", "shortened_parameters", "flattened_body"})
_IN_TEMPLATE = re.compile(r"\{([^{}]+)\}")
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
# what makes a path of a name: "filter[status]", "user.fields", "$top"
_NO_PLAIN = re.compile(r"[^\w-]+")


class ParameterPlace(NamedTuple):
    """A parameter's place in the request: its part and its name there ("" for the whole body).

    `within` lists the body's members that enclose it, outermost first; it is the same for all
    parameters of a body.
    """

    parameter: str
    part: Part
    name: str
    within: tuple[str, ...] = ()


class Operation(NamedTuple):
    """An operation: its tool draft, the places of its parameters, and the document's `tags`.

    `links` say which parameters of other operations its response supplies, if the document says
    so.
    """

    draft: ToolDraft
    method: str
    path: str
    places: tuple[ParameterPlace, ...]
    tags: tuple[str, ...] = ()
    links: tuple[StatedLink, ...] = ()
    errors: tuple[StatedError, ...] = ()


class ReadDocument(NamedTuple):
    """An API description: its operations, its language, the files read, and the problems met."""

    operations: tuple[Operation, ...]
    language: Language | None
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def read_openapi(path: Path) -> Catalog:
    """Read each operation as a tool; its category is the first tag, or the first path segment.

    For a folder, read all its descriptions.
    """
    if not existing(path).is_dir():
        return _catalog(path, read_document(path))
    candidate_files = sorted(
        one for suffix in _SUFFIXES for one in path.rglob(f"*{suffix}") if one.is_file()
    )
    texts = {one: read_text(one) for one in candidate_files}
    stated = [one for one, text in texts.items() if isinstance(text, str) and _VERSION.search(text)]
    if not stated:
        message = (
            f"The folder {str(path)!r} holds no description of an API; {EXPECTED} is expected."
        )
        raise ConfigurationError(message)
    read = {one: read_document(one, path) for one in stated}
    # what has no operation is there for those that refer to it
    held = {one: document for one, document in read.items() if document.operations} or read
    whole = merged([_catalog(one, document) for one, document in held.items()])
    known_files = {*stated, *(file.resolve() for file in whole.files)}
    problems = [*whole.problems]
    for one in candidate_files:
        if not known_files & {one, one.resolve()}:  # neither a description nor a part of one
            message = f"{str(one)!r} is no description of an API; left out."
            problems.append(Problem(where=str(one), kind="other_format", message=message))
    # without files, for it is read again: there may be others by then
    return whole.with_changes(problems=tuple(problems), files=())


def _catalog(path: Path, document: ReadDocument) -> Catalog:
    builder = CatalogBuilder("openapi", language=document.language)
    builder.problems += document.problems
    origins = []
    for operation in document.operations:
        tool = builder.put(operation.draft)
        if tool is not None:
            method = operation.method
            origins.append(
                ToolOrigin(
                    tool.key,
                    method,
                    operation.path,
                    operation.tags,
                    operation.links,
                    operation.errors,
                )
            )
    files = document.files
    return builder.catalog(path, EXPECTED).with_changes(origins=tuple(origins), files=files)


def read_operations(path: Path) -> tuple[Operation, ...]:
    """Return every operation with the places of its parameters.

    Raises ConfigurationError if the file is not an OpenAPI description.
    """
    return read_document(path).operations


def read_document(path: Path, folder: Path | None = None) -> ReadDocument:
    """Read an API description with the files it refers to in `folder` (default: its own).

    Raises ConfigurationError for an unsupported version.
    """
    bundle = read_bundle(the_file(path, EXPECTED), folder)
    fields = mapping_of(bundle.document)
    version = fields.get("openapi", fields.get("swagger"))
    if not is_swagger(fields) and ("openapi" not in fields or not str(version).startswith("3.")):
        if version is not None:
            named = f"names the version {shown(version)}"
        else:
            named = f"begins with {shown([*fields][:3])}"
        raise ConfigurationError(f"{str(path)!r} {named}; {EXPECTED} is expected.")
    operations = _with_plumbing(_linked(tuple(_operations(fields, path)), fields))
    drafts = with_told_forms(with_shown_ids([one.draft for one in operations], fields))
    operations = tuple(
        one._replace(draft=draft) for one, draft in zip(operations, drafts, strict=True)
    )
    operations = _with_clear_descriptions(operations)
    language = document_language(_text(one.draft.description) for one in operations)
    problems = (*bundle.problems, *_lost_paths(fields, path))
    return ReadDocument(operations, language, bundle.files, problems)


def _with_plumbing(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    placed = []
    for operation in operations:
        schemas = mapping_of(mapping_of(operation.draft.parameters).get("properties"))
        parameters = (
            PlacedParameter(at.parameter, at.part, at.name, mapping_of(schemas.get(at.parameter)))
            for at in operation.places
        )
        placed.append(
            PlacedParameters(operation.method, tuple(parameters), _returned(operation.draft))
        )
    return tuple(
        one._replace(draft=one.draft._replace(plumbing=names)) if names else one
        for one, names in zip(operations, find_plumbing(placed), strict=True)
    )


def _with_clear_descriptions(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Return the operations, each with a description that begins with what it does."""
    summarised = [
        Summarised(
            _text(one.draft.name),
            _text(one.draft.description),
            one.method,
            one.path,
            one.draft.returns is not None,
        )
        for one in operations
    ]
    return tuple(
        one._replace(draft=one.draft._replace(description=text)) if text != old.description else one
        for one, old, text in zip(
            operations, summarised, clear_descriptions(summarised), strict=True
        )
    )


def _returned(draft: ToolDraft) -> JsonSchema | None:
    return draft.returns if isinstance(draft.returns, dict) else None


def _linked(operations: Sequence[Operation], document: Fields) -> tuple[Operation, ...]:
    """Return the operations with the links that their responses declare."""
    targets: dict[str, LinkTarget] = {}
    for operation in operations:
        plain_places = [at for at in operation.places if at.part != "body"]
        # as links name them, the part in front or not
        named = {at.name: at.parameter for at in reversed(plain_places)}
        named |= {f"{at.part}.{at.name}": at.parameter for at in plain_places}
        target = LinkTarget(operation.method, operation.path, named)
        targets.setdefault(str(operation.draft.name), target)
        targets[f"{_place('', operation.path)}/{operation.method}"] = target
    return tuple(_with_links(one, document, targets) for one in operations)


def _with_links(
    operation: Operation, document: Fields, targets: Mapping[str, LinkTarget]
) -> Operation:
    item = _resolved(mapping_of(document.get("paths")).get(operation.path), document)
    responses = mapping_of(_resolved(item.get(operation.method), document).get("responses"))
    answers = (_resolved(responses.get(code), document) for code in SUCCESSES)
    returns = _returned(operation.draft)
    links, notes = links_in(answers, returns, lambda value: _resolved(value, document), targets)
    if not links and not notes:
        return operation
    draft = operation.draft._replace(notes=(*operation.draft.notes, *notes))
    return operation._replace(draft=draft, links=links)


def _lost_paths(document: Fields, path: Path) -> Iterator[Problem]:
    """Report paths with dead local references; references to other files are reported elsewhere."""
    for template, stated in mapping_of(document.get("paths")).items():
        pointer = _resolved(stated, document).get("$ref")
        if isinstance(pointer, str) and pointer.startswith("#"):
            message = f"The path {shown(template)} is at {shown(pointer)}, which is nothing in this"
            problem = Note("unresolvable_reference", f"{message} file; left out.")
            yield Problem(where=_place(path, template), kind=problem.kind, message=problem.message)


def _place(path: Path | str, template: str) -> str:
    return f"{path}#/paths/{template.replace('~', '~0').replace('/', '~1')}"


def _operations(document: Fields, path: Path) -> Iterator[Operation]:
    sent = Side(document, before, _written, "readOnly", {}, {})
    shared = _Shared(document, sent, sent._replace(hidden="writeOnly", known={}, written={}), {})
    is_old = is_swagger(document)
    for template, stated in mapping_of(document.get("paths")).items():
        item = _resolved(stated, document)
        if is_old:
            item = as_path_item(item, document, lambda value: _resolved(value, document))
        for method in METHODS:
            if operation := _resolved(item.get(method), document):
                where = f"{_place(path, template)}/{method}"
                yield _OperationReader(shared).operation(operation, item, method, template, where)


def _is_change(operation: Fields, method: str) -> bool:
    """Whether an operation changes what is there, by its method or by the verb that says it."""
    told = _text(operation.get("summary") or operation.get("description")).lower()
    verb = told.partition(" ")[0]
    return method in _CHANGING or any(
        deed_of(one) == "change" for one in (verb, verb[:-1], verb[:-2])
    )


def _summary(operation: Fields) -> JsonValue:
    """Return the summary, or None if it only repeats the name and there is a description."""
    summary = _text(operation.get("summary"))
    words = split_name(summary) if not re.search(r"\s", summary.strip()) else ()
    is_repeated = len(words) > 1 and words == split_name(_text(operation.get("operationId")))
    described_too = plain_text(_text(operation.get("description"))).strip()
    return None if is_repeated and described_too else operation.get("summary")


def _written(schema: JsonSchema, notes: list[Note]) -> JsonSchema:
    return checked_keywords(as_json_schema(schema, notes), notes)


class _Shared(NamedTuple):
    """State shared by a document's operations: schemas written for both sides, and what was cut."""

    document: Fields
    sent: Side
    returned: Side
    cut: Shortened


class _OperationReader:
    """Reads one operation: holds its parameters so far, and the notes on them."""

    def __init__(self, shared: _Shared) -> None:
        self._shared, self._document = shared, shared.document
        self._is_cut, self._fewest, self._is_reduced = False, 0, False
        self._changes = False  # whether the body has members that may be left out
        self._properties: JsonSchema = {}
        self._required: list[str] = []
        self._places: list[ParameterPlace] = []
        self._notes: list[Note] = []
        self._raw: JsonSchema = {}  # what is in each part, with its references
        self._told_of_body: list[JsonValue] = []

    def _note(self, kind: ProblemKind, message: str) -> None:
        self._notes.append(Note(kind, message))

    def operation(
        self, operation: Fields, item: Fields, method: str, template: str, where: str
    ) -> Operation:
        if "$ref" in operation:
            self._followed(operation)  # it leads nowhere, or it would have been followed
        for parameter in self._parameters(operation, item):
            self._add_parameter(parameter)
        self._add_undeclared(template)
        self._add_body(operation.get("requestBody"))
        if self._changes and self._only_says_what() and _is_change(operation, method):
            self._fewest = len(self._required) + 1  # to change nothing is no call
        schema, responses = self._taken(), mapping_of(operation.get("responses"))
        name = operation.get("operationId")
        if name in (None, ""):
            name = f"{method}_{_NO_NAME.sub('_', template).strip('_')}".rstrip("_")
            self._note("generated_name", f"There is no operationId; the tool is called {name!r}.")
        text = described(_summary(operation), operation.get("description"))
        if operation.get("deprecated") is True and "deprecat" not in _text(text).lower():
            text = f"{_text(text).strip()}\n\nDeprecated.".strip()
        category, returns = _category(operation, template), self._returns(responses)
        notes = tuple(self._notes)
        draft = ToolDraft(
            where, category, name, text, schema, returns, notes=notes, original=self._original()
        )
        errors, places = tuple(self._errors(responses)), tuple(self._places)
        return Operation(draft, method, template, places, _tags(operation), errors=errors)

    def _only_says_what(self) -> bool:
        """Whether all that is required says what a call is about: its ids, and the path."""
        in_path = {place.parameter for place in self._places if place.part == "path"}
        return all(name in in_path or names_one(name) for name in self._required)

    def _taken(self) -> JsonSchema:
        """Return the parameters, cut to their upper levels if a model can't read them all."""
        whole: JsonSchema = {"type": "object", "properties": self._properties}
        whole |= {"required": self._required} if self._required else {}
        whole |= {"minProperties": self._fewest} if self._fewest else {}
        schema, level = shortened(whole, MOST_TAKEN, self._shared.cut)
        if rules := rules_stated(self._told_of_body, schema):
            schema = {**schema, "description": rules}
        if self._is_cut or level:
            kept = schema["properties"]
            cut = [name for name, one in self._properties.items() if kept[name] != one]
            how = "the deepest are left out"
            if cut:
                how = f"{shown(cut)} are kept down to level {level}"
            self._note(
                "shortened_parameters", f"The parameters have over {MOST_TAKEN} parts; {how}."
            )
        return schema

    def _original(self) -> Original | None:
        """Return the schema of a request by its parts, unless the parameters say as much."""
        if not self._is_reduced and not any(note.kind in _REDUCING for note in self._notes):
            return None
        places = {
            at.parameter: (at.part, *at.within, at.name) if at.name else (at.part,)
            for at in self._places
        }
        return usable_original(with_definitions(self._raw, self._shared.sent), places)

    def _keep(self, part: Part, name: str, schema: JsonValue, *, needed: bool) -> None:
        """Add a part's member, or the whole body, to the schema of the request."""
        parts = self._raw.setdefault("properties", {})
        if not name:
            parts[part] = schema
            self._raw["required"] = [*self._raw.get("required", ()), *[part] * needed]
            return
        own = parts.setdefault(part, {"type": "object", "properties": {}, "required": []})
        own["properties"][name] = schema
        own["required"] += [name] * needed

    def _parameters(self, operation: Fields, item: Fields) -> list[Fields]:
        """List the parameters of path and operation; the operation's replace those of the path.

        They do so for the same name and place.
        """
        parameters_by_place: dict[str, Fields] = {}
        for owner in (item, operation):
            listed = owner.get("parameters")
            for stated in listed if isinstance(listed, list) else []:
                parameter = self._followed(stated)
                parameters_by_place[f"{parameter.get('in')} {parameter.get('name')}"] = parameter
        return list(parameters_by_place.values())

    def _followed(self, stated: JsonValue) -> Fields:
        """Return an object or the target of a reference; a dead reference excludes the tool."""
        fields = _resolved(stated, self._document)
        if "$ref" in fields:
            dead = shown(fields["$ref"])
            message = f"The reference {dead} points at nothing in this file; left out."
            self._note("unresolvable_reference", message)
        return fields

    def _add_parameter(self, parameter: Fields) -> None:
        if "$ref" in parameter:
            return
        name, place = parameter.get("name"), parameter.get("in")
        part, needed = PARTS.get(_text(place)), parameter.get("required") is True
        if not isinstance(name, str) or not name or part is None:
            message = f"A parameter named {shown(name)} is in {shown(place)}, no place; dropped."
            self._note("unsupported", message)
            return
        if part == "header" and name.lower() in IGNORED_HEADERS:
            return
        if part in ("header", "cookie") and not needed:
            message = f"The optional {part} {name!r} is set by a client, not a person; dropped."
            self._note("set_by_client", message)
            return
        contents = mapping_of(parameter.get("content")).values()
        inner = next((mapping_of(one).get("schema") for one in contents), None)
        stated = parameter.get("schema", inner)
        schema = self._schema({} if stated is None else stated, name)
        beside: Fields = {}
        if isinstance(parameter.get("description"), str):
            beside["description"] = plain_text(_text(parameter["description"]))
        if parameter.get("deprecated") is True:
            beside["deprecated"] = True
        if "example" in parameter and "examples" not in schema and not schema.get("enum"):
            beside["examples"] = [parameter["example"]]
        needed = needed or part == "path"
        self._add(ParameterPlace(name, part, name), {**schema, **beside}, needed=needed)
        self._keep(part, name, {} if stated is None else stated, needed=needed)

    def _add_undeclared(self, template: str) -> None:
        """Add the names in a path's template that no parameter declares, as required texts."""
        declared = {at.name for at in self._places}
        for name in dict.fromkeys(_IN_TEMPLATE.findall(template)):
            if name not in declared:
                message = f"The path has {{{name}}}, which no parameter declares; it is a text."
                self._note("undeclared_required", message)
                self._add_parameter(
                    {"name": name, "in": "path", "schema": {"type": "string", "minLength": 1}}
                )

    def _add_body(self, stated: JsonValue) -> None:
        body = {"$ref": None} if stated is None else self._followed(stated)
        if "$ref" in body:
            return
        content = mapping_of(_resolved(body.get("content"), self._document))
        needed = body.get("required") is True
        media = _json_schema_of(content) or _text_schema_of(content)
        if media is None:
            held = f"The body is {shown(sorted(content))}, which holds neither JSON nor text"
            kind: ProblemKind = "no_json_body" if needed else "unsupported"
            self._note(kind, f"{held}; {'it is required, left out' if needed else 'dropped'}.")
            return
        schema = self._schema(media)
        self._told_of_body = [body.get("description"), schema.get("description")]
        self._keep("body", "", media, needed=needed)
        self._is_reduced = bool(schema.keys() & _TOGETHER)
        fields = fields_of(schema)
        if fields is None:
            self._add(ParameterPlace("body", "body", ""), schema, needed=needed)
            self._changes = not needed
            return
        wrappers, fields = self._unwrapped(fields)
        self._notes.extend(fields.notes)
        if "required" not in body and fields.required:
            needed, names = True, shown([*fields.required])
            message = f"The body is not said to be required; its members {names} stay required."
            self._note("assumed_required", message)
        for name, member in fields.properties.items():
            place = ParameterPlace(name, "body", name, wrappers)
            self._add(place, member, needed=needed and name in fields.required)
        self._changes = len(fields.properties) > len(fields.required)
        if needed and fields.properties and not fields.required:
            self._fewest = len(self._required) + 1  # a body is required, and one of nothing is none

    def _unwrapped(self, fields: BodyFields) -> tuple[tuple[str, ...], BodyFields]:
        """Return the members that wrap everything else, such as `data`, and the fields inside."""
        wrappers: tuple[str, ...] = ()
        while len(wrappers) < MOST_WRAPPERS and (found := wrapped_in(fields)):
            self._told_of_body.append(mapping_of(fields.properties[found[0]]).get("description"))
            wrappers, fields = (*wrappers, found[0]), found[1]
        if wrappers:
            message = f"The body has all in {'.'.join(wrappers)!r}; what it holds are parameters."
            self._note("unwrapped_body", message)
        return wrappers, fields

    def _add(self, place: ParameterPlace, schema: JsonValue, *, needed: bool) -> None:
        """Add a parameter under a plain name, prefixed with its part if the name is taken."""
        wanted = place.parameter
        plain = _NO_PLAIN.sub("_", wanted).strip("_") if _NO_PLAIN.search(wanted) else wanted
        plain = parameter = plain or wanted
        if plain != wanted:
            message = f"{wanted!r} is no name that models take; the parameter is called {plain!r}."
            self._note("generated_name", message)
        while parameter in self._properties:
            parameter = f"{place.part}_{parameter}"
        if parameter != plain:
            what = f"{wanted!r} is in two parts of the request"
            self._note("name_collision", f"{what}; that of the {place.part} is {parameter!r}.")
        self._properties[parameter] = schema
        self._places.append(place._replace(parameter=parameter))
        self._required += [parameter] * needed

    def _schema(self, stated: JsonValue, name: str = "") -> JsonSchema:
        if isinstance(stated, bool):
            return {} if stated else {"not": {}}
        if not isinstance(stated, dict):
            self._note("invalid_schema", f"A parameter's schema is {shown(stated)}; left out.")
            return {}
        (schema, notes), is_cut = rewrite_upper(stated, self._shared.sent)
        self._is_cut = self._is_cut or is_cut
        self._notes.extend(note.within(name) for note in notes)
        return schema

    def _returned(self, response: JsonValue) -> tuple[Rewritten, bool] | None:
        """What a response returns as JSON, and whether that was cut; None where it is no JSON."""
        content = _resolved(response, self._document).get("content")
        media = _json_schema_of(_resolved(content, self._document))
        return rewrite_upper(media, self._shared.returned) if isinstance(media, dict) else None

    def _returns(self, responses: Fields) -> JsonSchema | None:
        """Return the JSON schema of the first success, or None; an unusable one is noted."""
        # beside a declared success the default is what failures return
        is_failure = any(code.startswith("2") for code in responses)
        codes = (code for code in SUCCESSES if code != "default" or not is_failure)
        found = (self._returned(responses.get(code)) for code in codes)
        stated = next((one for one in found if one is not None), None)
        if stated is None:
            return None
        (schema, notes), is_cut = stated
        for note in notes:
            if note.kind in FATAL:
                self._note("untyped_return", f"The result is left open: {note}")
                return None
        short_schema, level = shortened(schema, MOST_RETURNED, self._shared.cut)
        if level or is_cut:
            how = (
                f"kept down to level {level}" if level else "kept as far as it could be written out"
            )
            message = f"The result's schema has over {MOST_RETURNED} parts; it is {how}."
            self._note("shortened_return", message)
        return short_schema

    def _errors(self, responses: Fields) -> Iterator[StatedError]:
        """Yield the usable JSON bodies of declared client errors and of the default response."""
        for code, response in responses.items():
            if code.startswith("4") or (code == "default" and len(responses) > 1):
                found = self._returned(response)
                if found and not any(note.kind in FATAL for note in found[0].notes):
                    schema = found[0].schema
                    yield StatedError(code, shortened(schema, MOST_DECLARED, self._shared.cut)[0])


def _tags(operation: Fields) -> tuple[str, ...]:
    tags = operation.get("tags")
    listed = tags if isinstance(tags, list) else []
    return tuple(tag for tag in listed if isinstance(tag, str) and tag)


def _category(operation: Fields, template: str) -> str:
    tags = operation.get("tags")
    if isinstance(tags, list) and tags and isinstance(tags[0], str) and tags[0]:
        return tags[0]
    steps = template.split("/")
    return next((step for step in steps if step and not step.startswith("{")), "root")


def _resolved(stated: JsonValue, document: Fields) -> Fields:
    """Return an object with its reference followed, or the reference if it leads nowhere."""
    fields = mapping_of(stated)
    for _ in range(LONGEST_CHAIN):
        pointer = fields.get("$ref")
        found = resolve(pointer, document) if isinstance(pointer, str) else None
        if not isinstance(found, dict):
            break
        fields = found
    return fields


def _json_schema_of(content: JsonValue) -> JsonValue:
    """Return the schema of the JSON body, or else of a form; None if there is neither."""
    media = mapping_of(content)
    for wanted in ("json", "x-www-form-urlencoded", "form-data"):
        for kind, stated in media.items():
            if kind.split(";")[0].strip().lower().endswith(wanted):
                return mapping_of(stated).get("schema", {})
    return mapping_of(media.get("*/*")).get("schema")


def _text_schema_of(content: Fields) -> JsonValue:
    """Return the schema of a body that is plain text; None if there is none."""
    texts = (one for kind, one in content.items() if kind.lower().startswith(_TEXT_BODIES))
    schema = next((mapping_of(one).get("schema", {}) for one in texts), None)
    return None if schema is None else {"type": "string", **mapping_of(schema)}


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


FORMAT = CatalogFormat("openapi", read_openapi)
