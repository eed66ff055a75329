"""Load API documents that span several files, and convert Swagger 2.0 to OpenAPI 3.

References to other files are followed only within the document's own folder, or the folder that
is imported. Each referenced file is stored once, under `x-files` of the document, and references
to it become local ones, so readers of the document need no other file. Nothing is fetched over
the network, and nothing outside the folder is read, neither through `..` nor through symbolic
links. References that can't be followed stay as they are and are reported.

Swagger is converted where it differs: parameters state their type inline, bodies and form fields
are parameters, and responses hold their schema directly. References stay, because their targets
stay in place (`definitions`, `parameters`, `responses`).
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple, cast
from urllib.parse import quote, unquote

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import LARGEST, parse_json_or_yaml, read_text
from callwright.generators.catalogs.rewriting import without
from callwright.warehouse.errors import ConfigurationError

FILES = "x-files"
MOST_FILES = 5_000
METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_OUTSIDE = re.compile(r"""\$ref["']?\s*:\s*["']?[^#"'\s]""")
_ABOUT = ("name", "in", "description", "required")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_JSON, _FILES = "application/json", "multipart/form-data"
_FORM = "application/x-www-form-urlencoded"
_OF_PARAMETERS = frozenset(
    {"name", "in", "description", "required", "allowEmptyValue", "collectionFormat"}
)
Fields = dict[str, JsonValue]
Followed = Callable[[JsonValue], Fields]  # an object, with its reference followed where it is one


class Bundle(NamedTuple):
    """A document with all that it refers to, the files it was read from, and failed references."""

    document: JsonValue
    files: tuple[Path, ...]
    problems: tuple[Problem, ...]


def read_bundle(path: Path, folder: Path | None = None) -> Bundle:
    """Read the document at `path` with the files in `folder` that it refers to.

    `folder` defaults to the document's own. Raises ConfigurationError if the document can't be
    read.
    """
    text = read_text(path)
    document = text if isinstance(text, Problem) else parse_json_or_yaml(text, str(path))
    if isinstance(document, Problem):
        raise ConfigurationError(document.message)
    if not isinstance(document, dict) or isinstance(text, Problem) or not _OUTSIDE.search(text):
        return Bundle(document, (path,), ())
    bundling = _Bundling(path, len(text), folder or path.absolute().parent)
    bundling.waiting.append((document, path))
    while bundling.waiting:
        value, file = bundling.waiting.pop()
        for owner in _referring(value):
            bundling.follow(owner, file)
    whole = {**document, FILES: bundling.kept} if bundling.kept else document
    return Bundle(whole, (path, *bundling.files), tuple(bundling.problems))


class _UnfollowedError(Exception):
    """The reason why a reference is not followed; never leaves this module."""


class _Bundling:
    """The files of one document: those read, by place in the folder, and those still to scan."""

    def __init__(self, path: Path, size: int, folder: Path) -> None:
        self.kept: Fields = {}
        self.files: list[Path] = []
        self.problems: list[Problem] = []
        self._folder = folder.resolve()
        self._root = path.resolve()
        self._left = LARGEST - size
        self._unfollowed: set[tuple[str, str]] = set()
        self.waiting: list[tuple[JsonValue, Path]] = []

    def follow(self, owner: Fields, file: Path) -> None:
        """Turn a reference into a local one, and read the file that it points to."""
        written_reference = str(owner["$ref"])
        is_root = file.resolve() == self._root
        if written_reference.startswith("#"):
            if not is_root:
                owner["$ref"] = f"#/{FILES}/{self._name(file.resolve())}{written_reference[1:]}"
            return
        name, _, pointer = written_reference.partition("#")
        try:
            target = self._target(name, file)
        except _UnfollowedError as error:
            if (str(file), written_reference) not in self._unfollowed:
                self._unfollowed.add((str(file), written_reference))
                message = f"The reference {shown(written_reference)} is not followed: {error}."
                self.problems.append(
                    Problem(where=str(file), kind="unresolvable_reference", message=message)
                )
            return
        place = "" if target == self._root else f"/{FILES}/{self._name(target)}"
        owner["$ref"] = f"#{place}{pointer}"

    def _target(self, name: str, file: Path) -> Path:
        """Return the file that a reference names; read it if that has not been done."""
        if _ADDRESS.match(name):
            raise _UnfollowedError("nothing is fetched over the network")
        try:
            target = (file.resolve().parent / unquote(name)).resolve()
            if not target.is_relative_to(self._folder):
                where = "out of the document's folder; import a folder that holds both files"
                raise _UnfollowedError(f"it leads {where}")
            if not target.is_file():
                raise _UnfollowedError("there is no such file")
        # a name of no system, or links that go in a circle
        except (OSError, RuntimeError, ValueError) as error:
            raise _UnfollowedError(f"it can't be looked at ({error})") from error
        if target != self._root and self._place(target) not in self.kept:
            self._read(target)
        return target

    def _read(self, target: Path) -> None:
        if len(self.files) >= MOST_FILES:
            raise _UnfollowedError(f"the document has more than {MOST_FILES} files")
        text = read_text(target)
        value = text if isinstance(text, Problem) else parse_json_or_yaml(text, str(target))
        if isinstance(value, Problem) or isinstance(text, Problem):
            raise _UnfollowedError(
                value.message.rstrip(".") if isinstance(value, Problem) else "it can't be read"
            )
        self._left -= len(text)
        if self._left < 0:
            raise _UnfollowedError(f"the document's files are larger than {LARGEST // 2**20} MiB")
        self.files.append(target)
        self.kept[self._place(target)] = value
        self.waiting.append((value, target))

    def _place(self, target: Path) -> str:
        return str(PurePosixPath(target.relative_to(self._folder)))

    def _name(self, target: Path) -> str:
        """Return a file's place as a step of a JSON pointer."""
        return quote(self._place(target).replace("~", "~0").replace("/", "~1"))


def _referring(value: JsonValue) -> Iterator[Fields]:
    """Yield every object inside `value` that is a reference, without recursion."""
    waiting = [value]
    while waiting:
        inner_value = waiting.pop()
        if isinstance(inner_value, dict):
            waiting += inner_value.values()
            if isinstance(inner_value.get("$ref"), str):
                yield inner_value
        elif isinstance(inner_value, list):
            waiting += inner_value


def is_swagger(document: Fields) -> bool:
    """Whether a description is written in version 2.0."""
    return "openapi" not in document and str(document.get("swagger")).startswith("2")


def as_path_item(item: Fields, document: Fields, followed: Followed) -> Fields:
    """Return a path's operations in OpenAPI 3 form, each with the path's shared parameters."""
    shared = _listed(item.get("parameters"))
    stated = ((method, followed(item.get(method))) for method in METHODS)
    return {method: _operation(one, shared, document, followed) for method, one in stated if one}


def _operation(
    operation: Fields, shared: list[JsonValue], document: Fields, followed: Followed
) -> Fields:
    consumes = _types(operation.get("consumes", document.get("consumes")))
    produces = _types(operation.get("produces", document.get("produces")))
    parameters_by_place: dict[str, Fields] = {}
    dead: list[Fields] = []
    for stated_parameter in (*shared, *_listed(operation.get("parameters"))):
        parameter = followed(stated_parameter)
        if "$ref" in parameter:
            dead.append(parameter)
        else:
            parameters_by_place[f"{parameter.get('in')} {parameter.get('name')}"] = parameter
    rewritten_fields = without(operation, "parameters", "consumes", "produces")
    plain: list[Fields] = []
    for placed_parameter in parameters_by_place.values():
        if placed_parameter.get("in") not in ("body", "formData"):
            about: Fields = {
                key: placed_parameter[key] for key in _ABOUT if key in placed_parameter
            }
            plain.append({**about, "schema": _typed(placed_parameter)})
    rewritten_fields["parameters"] = cast("JsonValue", [*dead, *plain])
    bodies = [one for one in parameters_by_place.values() if one.get("in") == "body"]
    fields = [one for one in parameters_by_place.values() if one.get("in") == "formData"]
    if body := _body(bodies, consumes) or _form(fields):
        rewritten_fields["requestBody"] = body
    responses = operation.get("responses")
    if isinstance(responses, dict):
        stated_by = {code: followed(stated) for code, stated in responses.items()}
        rewritten_fields["responses"] = {
            code: _response(one, produces) for code, one in stated_by.items()
        }
    return rewritten_fields


def _typed(parameter: Fields) -> Fields:
    """Return a parameter's own type as a schema; the type `file` becomes a binary string."""
    schema = without(parameter, *_OF_PARAMETERS)
    return (
        {**schema, "type": "string", "format": "binary"} if schema.get("type") == "file" else schema
    )


def _body(stated: list[Fields], consumes: list[str]) -> Fields:
    """Convert the body parameter to a request body, with `required` only if it was given."""
    if not stated:
        return {}
    body = stated[0]
    stated_beside: Fields = {key: body[key] for key in ("required", "description") if key in body}
    schema: Fields = {"schema": body.get("schema", {})}
    return {**stated_beside, "content": dict.fromkeys(consumes or [_JSON], schema)}


def _form(fields: list[Fields]) -> Fields:
    """Return the fields of a form as an object schema for the request body."""
    if not fields:
        return {}
    named = {str(field["name"]): field for field in fields if isinstance(field.get("name"), str)}
    properties: Fields = {name: _typed(field) for name, field in named.items()}
    for name, field in named.items():
        if "description" in field:
            properties[name] = {**_typed(field), "description": field["description"]}
    required: JsonValue = [name for name, one in named.items() if one.get("required") is True]
    schema: Fields = {"type": "object", "properties": properties}
    schema |= {"required": required} if required else {}
    kind = _FILES if any(field.get("type") == "file" for field in fields) else _FORM
    return {"required": bool(required), "content": {kind: {"schema": schema}}}


def _response(response: Fields, produces: list[str]) -> Fields:
    schema = response.get("schema")
    if not isinstance(schema, dict) or schema.get("type") == "file":
        return response
    return {**response, "content": {kind: {"schema": schema} for kind in produces or [_JSON]}}


def _types(stated: JsonValue) -> list[str]:
    return [kind for kind in stated if isinstance(kind, str)] if isinstance(stated, list) else []


def _listed(stated: JsonValue) -> list[JsonValue]:
    return stated if isinstance(stated, list) else []
