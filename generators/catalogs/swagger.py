"""Operations of a Swagger 2.0 description as OpenAPI 3 has them.

Converted is what differs: parameters state their type in themselves, a body and the fields of a form are parameters, and a response
has its schema in itself. References stay, for what they name is where it was (`definitions`, `parameters`, `responses`).
"""

from collections.abc import Callable
from typing import cast

from pydantic import JsonValue

Fields = dict[str, JsonValue]
Followed = Callable[[JsonValue], Fields]  # an object, with its reference followed where it is one

METHODS = ("get", "put", "post", "delete", "patch", "head", "options", "trace")
_JSON, _FORM, _FILES = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"
_OF_PARAMETERS = frozenset({"name", "in", "description", "required", "allowEmptyValue", "collectionFormat"})


def is_swagger(document: Fields) -> bool:
    """Whether a description is of version 2.0."""
    return "openapi" not in document and str(document.get("swagger")).startswith("2")


def as_path_item(item: Fields, document: Fields, followed: Followed) -> Fields:
    """A path's operations as OpenAPI 3 has them; the parameters of the path go to each operation."""
    shared = _listed(item.get("parameters"))
    converted: Fields = {}
    for method in METHODS:
        operation = followed(item.get(method))
        if operation:
            converted[method] = _operation(operation, shared, document, followed)
    return converted


def _operation(operation: Fields, shared: list[JsonValue], document: Fields, followed: Followed) -> Fields:
    consumes = _types(operation.get("consumes", document.get("consumes")))
    produces = _types(operation.get("produces", document.get("produces")))
    found: dict[str, Fields] = {}
    dead: list[Fields] = []
    for stated in (*shared, *_listed(operation.get("parameters"))):
        parameter = followed(stated)
        if "$ref" in parameter:
            dead.append(parameter)
        else:
            found[f"{parameter.get('in')} {parameter.get('name')}"] = parameter
    kept = {key: value for key, value in operation.items() if key not in ("parameters", "consumes", "produces")}
    plain = [_parameter(one) for one in found.values() if one.get("in") not in ("body", "formData")]
    kept["parameters"] = cast("JsonValue", [*dead, *plain])
    body = _body([one for one in found.values() if one.get("in") == "body"], consumes) or _form(
        [one for one in found.values() if one.get("in") == "formData"]
    )
    if body:
        kept["requestBody"] = body
    responses = operation.get("responses")
    if isinstance(responses, dict):
        kept["responses"] = {code: _response(followed(stated), produces) for code, stated in responses.items()}
    return kept


def _parameter(parameter: Fields) -> Fields:
    stated: Fields = {key: parameter[key] for key in ("name", "in", "description", "required") if key in parameter}
    return {**stated, "schema": _typed(parameter)}


def _typed(parameter: Fields) -> Fields:
    """The type that a parameter states in itself, as a schema; a file is text in bytes."""
    schema = {key: value for key, value in parameter.items() if key not in _OF_PARAMETERS}
    return {**schema, "type": "string", "format": "binary"} if schema.get("type") == "file" else schema


def _body(stated: list[Fields], consumes: list[str]) -> Fields:
    """The body parameter as a request's body; whether it is required is said only where it was said."""
    if not stated:
        return {}
    body = stated[0]
    stated_beside: Fields = {key: body[key] for key in ("required", "description") if key in body}
    return {**stated_beside, "content": {kind: {"schema": body.get("schema", {})} for kind in consumes or [_JSON]}}


def _form(fields: list[Fields]) -> Fields:
    """The fields of a form as an object in a request's body."""
    if not fields:
        return {}
    named = {str(field["name"]): field for field in fields if isinstance(field.get("name"), str)}
    properties: Fields = {}
    for name, field in named.items():
        described: Fields = {key: field[key] for key in ("description",) if key in field}
        properties[name] = {**_typed(field), **described}
    required: list[JsonValue] = [name for name, field in named.items() if field.get("required") is True]
    schema: Fields = {"type": "object", "properties": properties, **({"required": required} if required else {})}
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
