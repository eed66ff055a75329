"""Read tau2-bench's tasks: what a user wants, and the actions that are expected of an agent.

The tools of a domain are Python functions, whose signatures are read and never run. The words of a
record are the instructions of the simulated user, its calls the expected actions, and its state
the domain's database, from which all that the calls return comes.
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.builder import CatalogBuilder, ToolDraft
from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import (
    DocumentItem,
    existing,
    read_json,
    read_rows,
    read_text,
)
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    RecordReader,
    SampleFormat,
    broken,
    language_of_user,
    objects,
    part,
    read_each,
    words,
)
from callwright.generators.taken import STAGE, kind_of_turns
from callwright.llm.written_calls import python_value
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.records import (
    CallTurn,
    GoldCall,
    JsonSchema,
    Origin,
    Sample,
    Tool,
    UserTurn,
)

_TASKS = "tasks*.json"
_Named = Mapping[str, ast.expr | ast.ClassDef]
_SOURCES = Path("src") / "tau2" / "domains"
_TOOLS, _MODELS = "tools.py", "data_model.py"
_DECORATORS = frozenset({"is_tool", "is_discoverable_tool"})
_SAID = ("reason_for_call", "known_info", "task_instructions")  # parts of a user's instructions
_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}
_LISTS = frozenset({"List", "list", "Sequence", "Tuple", "tuple", "Set", "set"})
_OBJECTS = frozenset({"Dict", "dict", "Mapping"})


def read_tau2_tasks(path: Path) -> Iterator[ImportedRecord]:
    """Yield the tasks of a file, of a domain's folder or of the whole repository.

    Raises ConfigurationError if there are none.
    """
    files = [path] if existing(path).is_file() else sorted(path.rglob(_TASKS))
    if not files:
        raise ConfigurationError(f"The folder {str(path)!r} holds no {_TASKS} of tau2-bench.")
    for file in files:
        above = (folder / _SOURCES / file.parent.name for folder in file.resolve().parents)
        source = next((one for one in above if (one / _TOOLS).is_file()), None)
        if source is None:
            missing = f"no folder above has {_SOURCES / file.parent.name / _TOOLS}"
            yield broken(str(file), f"Its tools are not known: {missing}; left out.")
            continue
        builder = CatalogBuilder("tau2", types_are_told=False, by_category=False)
        domain = _domain(source, file.parent, builder)
        yield from read_each(read_rows(file), partial(_record, domain=domain, builder=builder))


class _Domain(NamedTuple):
    """A domain's tools, its database (None if missing), and the texts in both."""

    tools: tuple[Tool, ...]
    database: JsonValue
    known: frozenset[str]


def _domain(source: Path, folder: Path, builder: CatalogBuilder) -> _Domain:
    modules = [_parse(source / name) for name in (_TOOLS, _MODELS) if (source / name).is_file()]
    named = {name: node for module in modules for name, node in _definitions(module)}
    functions = [one for one in ast.walk(modules[0]) if isinstance(one, ast.FunctionDef)]
    tools = [
        builder.put(_draft(one, f"{source / _TOOLS}:{one.lineno}", folder.name, named))
        for one in functions
        if _is_tool(one)
    ]
    database = _database(folder)
    known = {*_texts_in(database), *(one.name for one in functions)} if database else ()
    return _Domain(tuple(one for one in tools if one is not None), database, frozenset(known))


def _record(row: DocumentItem, domain: _Domain, builder: CatalogBuilder) -> ImportedRecord:
    """Return a task's record; a task may add to what the world holds."""
    record = _TaskReader(row.where, builder).record(row.value, domain.tools)
    initial = row.value.get("initial_state") if isinstance(row.value, dict) else None
    state: JsonValue = {"database": domain.database, "initial_state": initial}
    known = domain.known.union(_texts_in(initial)) if domain.known else domain.known
    return record._replace(state=state, known=known)


def _texts_in(value: JsonValue) -> Iterator[str]:
    """Yield the names of members and the values within a value, as texts."""
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(one)
    else:
        yield str(value)


def _database(folder: Path) -> JsonValue:
    """Return what a domain's database holds; None if there is none that can be read."""
    for name, read in (("db.json", read_json), ("db.toml", _read_toml)):
        if (folder / name).is_file():
            found = read(folder / name)
            return None if isinstance(found, Problem) else found
    return None


def _read_toml(file: Path) -> JsonValue | Problem:
    text = read_text(file)
    with suppress(tomllib.TOMLDecodeError):
        return text if isinstance(text, Problem) else tomllib.loads(text)
    return None


class _TaskReader(RecordReader):
    word = "task"

    def record(self, value: JsonValue, tools: tuple[Tool, ...]) -> ImportedRecord:
        fields = value if isinstance(value, dict) else {}
        turns = (UserTurn(text=self._text(fields)), CallTurn(calls=tuple(self._calls(fields))))
        category = tools[0].category if tools else ""
        record = self.imported(
            lambda: Sample(
                kind=kind_of_turns(turns),
                language=language_of_user(turns),
                category=category,
                candidates=tuple(tool.key for tool in tools),
                turns=turns,
                origin=Origin(stage=STAGE),
            ),
            tools,
        )
        return record._replace(lacks_results=True)

    def _text(self, fields: Fields) -> str:
        scenario = part(fields, "user_scenario")
        told = words(scenario, "instructions")
        parts = (words(part(scenario, "instructions"), name) for name in _SAID)
        text = told or "\n".join(filter(None, parts))
        if not text:
            self.refuse(f"The user's instructions are {shown(scenario.get('instructions'))}")
        return text

    def _calls(self, fields: Fields) -> Iterator[GoldCall]:
        """Yield the expected actions of the agent; those of the user are no gold."""
        for action in objects(part(fields, "evaluation_criteria").get("actions")):
            match action:
                case {"requestor": "user"}:
                    continue
                case {"name": str(name), "arguments": dict(given)} if name:
                    yield GoldCall(tool=name, arguments=given)
                case _:
                    self.refuse(f"An action is {shown(action)}, not a name and arguments")


def _parse(file: Path) -> ast.Module:
    """Return a module's tree. Raises ConfigurationError if it is not Python."""
    text = read_text(file)
    try:
        return ast.parse("" if isinstance(text, Problem) else text)
    except (SyntaxError, ValueError) as error:
        raise ConfigurationError(f"{str(file)!r} can't be read as Python: {error}.") from error


def _definitions(module: ast.Module) -> Iterator[tuple[str, ast.expr | ast.ClassDef]]:
    """Yield the classes and the aliases of types at the top of a module."""
    for node in module.body:
        match node:
            case ast.ClassDef(name=name):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value


def _is_tool(node: ast.FunctionDef) -> bool:
    called = (one.func for one in node.decorator_list if isinstance(one, ast.Call))
    return any(isinstance(one, ast.Name) and one.id in _DECORATORS for one in called)


def _draft(node: ast.FunctionDef, where: str, domain: str, named: _Named) -> ToolDraft:
    require_extra("build")
    from docstring_parser import parse as parse_docstring

    told = parse_docstring(ast.get_docstring(node) or "")
    about = {one.arg_name: one.description or "" for one in told.params}
    stated = node.args.args[1:]  # without self
    properties: JsonSchema = {
        one.arg: {**_schema(one.annotation, named), "description": about.get(one.arg, "")}
        for one in stated
    }
    without_default = stated[: len(stated) - len(node.args.defaults)]
    parameters: JsonSchema = {
        "type": "object",
        "properties": properties,
        "required": [one.arg for one in without_default],
    }
    lines = (told.short_description, told.long_description)
    return ToolDraft(where, domain, node.name, "\n".join(filter(None, lines)), parameters)


def _schema(node: ast.AST | None, named: _Named, depth: int = 0) -> JsonSchema:
    """Return the schema of an annotation; {} for one that is not known, or nested too deeply."""
    deeper = depth + 1
    if depth > 9:  # noqa: PLR2004 - a model that holds itself
        return {}
    match node:
        case ast.Name(id=word) if word in _TYPES:
            return {"type": _TYPES[word]}
        case ast.Name(id=word) if word in named:
            return _schema(named[word], named, deeper)
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.ClassDef():
            return _schema_of_model(node, named, deeper)
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return {"anyOf": [_schema(one, named, deeper) for one in (left, right)]}
        case ast.Name(id=word) | ast.Subscript(value=ast.Name(id=word)):
            inner = node.slice if isinstance(node, ast.Subscript) else None
            return _schema_of_generic(word, inner, named, deeper)
    return {}


def _schema_of_generic(word: str, inner: ast.expr | None, named: _Named, depth: int) -> JsonSchema:
    members = inner.elts if isinstance(inner, ast.Tuple) else [inner] if inner else []
    if word in _OBJECTS:
        return {"type": "object"}
    if word in _LISTS:
        return {"type": "array", "items": _schema(inner, named, depth)}
    if word == "Optional":
        return {"anyOf": [_schema(inner, named, depth), {"type": "null"}]}
    if word == "Union":
        return {"anyOf": [_schema(one, named, depth) for one in members]}
    if word == "Literal":
        return {"enum": [python_value(one) for one in members]}
    return {}


def _schema_of_model(node: ast.ClassDef, named: _Named, depth: int) -> JsonSchema:
    """Return the schema of a pydantic model: its fields, and those of the models it extends."""
    whole: JsonSchema = {"type": "object", "properties": {}, "required": []}
    for base in node.bases:
        extended = named.get(base.id) if isinstance(base, ast.Name) else None
        if isinstance(extended, ast.ClassDef):
            inherited = _schema(extended, named, depth)
            whole["properties"] |= inherited.get("properties", {})
            whole["required"] += inherited.get("required", [])
    for one in node.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            whole["properties"][one.target.id] = _schema(one.annotation, named, depth)
            is_given = isinstance(one.value, ast.Call) and not one.value.args
            if (one.value is None or is_given) and not _has_default(one.value):
                whole["required"].append(one.target.id)
    return whole


def _has_default(value: ast.expr | None) -> bool:
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return any(one.arg in ("default", "default_factory") for one in keywords)


TAU2 = SampleFormat(
    "tau2", "tau2-bench's tasks with the actions that are expected", read_tau2_tasks
)
