"""Patches: confirmed findings as corrected rows, or as JSON Patch lines (RFC 6902).

A row is read again by its place and only the gold that a finding speaks of is changed. BFCL's
golds are rows of its possible answers.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.flows.data_audit.differences import steps_of, value_at
from callwright.flows.data_audit.running import DataAudit
from callwright.generators.catalogs.documents import DocumentItem, read_rows
from callwright.generators.imports.bfcl import ANSWERS, first_call
from callwright.generators.imports.bfcl_turns import beside
from callwright.generators.imports.reading import SOURCES, objects, read_source
from callwright.language.schemas import replaced_at
from callwright.llm.written_calls import python_tree
from callwright.validators.audit.findings import Finding
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.json_text import read_json
from callwright.warehouse.records import Arguments, Sample

_OWN_ROWS = frozenset({"bfcl", "callnavi", "hammerbench", "openai", "records"})
_BFCL = "bfcl"
_NAMES, _ARGUMENTS = ("name", "tool"), ("arguments", "args", "input", "parameters")
_Step = str | int


class Patch(NamedTuple):
    """What corrects one row: a line to write, or why there is none."""

    item: str
    line: str = ""
    problem: str = ""


def write_patch(audit: DataAudit, out: Path) -> list[Patch]:
    """Write the patch of an audit's confirmed findings to a file, a line for each row.

    Raises ConfigurationError for an audit of a release, or if a file is not there any more.
    """
    if audit.form not in SOURCES:
        raise ConfigurationError(
            f"{audit.source!r} is no file that a patch could correct. Correct its samples with"
            " `callwright review push`."
        )
    patches = [*patch_lines(audit, audit.form)]
    out.write_text("".join(f"{one.line}\n" for one in patches if one.line), encoding="utf-8")
    return patches


def patch_lines(findings: Iterable[Finding], form: str) -> Iterator[Patch]:
    """Yield the patch of each row of which a confirmed finding says what it should be.

    Raises ConfigurationError if a file is not there any more.
    """
    by_file: dict[Path, dict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for one in findings:
        if one.verdict == "confirmed" and one.expected is not None:
            by_file[_file_of(one.where)][one.where].append(one)
    for file, by_place in by_file.items():
        rows, samples = _rows(file, form, by_place), _samples(file, form, by_place)
        for where, found in by_place.items():
            if where not in rows:
                yield Patch(found[0].item, problem=f"{where} is not there any more.")
                continue
            yield _patch(rows[where], samples.get(where), found, form)


def _file_of(where: str) -> Path:
    """Return the file of a place: "file:12", "file#" or "file#/3"."""
    name, mark, _ = where.rpartition("#")
    return Path(name if mark else where.rpartition(":")[0])


def _rows(
    file: Path, form: str, by_place: Mapping[str, Sequence[Finding]]
) -> Mapping[str, JsonValue]:
    """Return the rows that have the golds of places, by place."""
    if form == _BFCL:
        answers = beside(file, ANSWERS, file.name) or file
        places = {found[0].item: where for where, found in by_place.items()}
        items = (row for row in _items(answers) if isinstance(row.value, dict))
        by_id = ((str(one.value.get("id")), one.value) for one in items)  # type: ignore[union-attr]
        return {places[name]: value for name, value in by_id if name in places}
    return {row.where: row.value for row in _items(file) if row.where in by_place}


def _items(file: Path) -> Iterator[DocumentItem]:
    if not file.is_file():
        raise ConfigurationError(f"There is no file {str(file)!r} any more, so it has no patch.")
    return (row for row in read_rows(file) if isinstance(row, DocumentItem))


def _samples(file: Path, form: str, places: Mapping[str, object]) -> Mapping[str, Sample]:
    """Return the samples at places; {} where the format's files can't be read alone."""
    with suppress(ConfigurationError):
        records = read_source(SOURCES.named(form), file)
        return {one.where: one.sample for one in records if one.sample and one.where in places}
    return {}


def _patch(row: JsonValue, sample: Sample | None, findings: Sequence[Finding], form: str) -> Patch:
    changed = row
    for finding in findings:
        corrected = _corrected(changed, sample, finding)
        if corrected is None:
            problem = f"{finding.where}: the gold {finding.gold!r} is not found there once."
            return Patch(finding.item, problem=problem)
        changed = corrected
    if form in _OWN_ROWS:
        return Patch(findings[0].item, _text(changed))
    operations: list[JsonValue] = [*_operations(row, changed, "")]
    patch: JsonValue = {"item": findings[0].item, "place": findings[0].where, "patch": operations}
    return Patch(findings[0].item, _text(patch))


def _operations(before: JsonValue, after: JsonValue, path: str) -> Iterator[JsonValue]:
    """Yield the operations of a JSON Patch that make one value of another."""
    if before == after and isinstance(before, bool) is isinstance(after, bool):
        return
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() <= after.keys():
        for name, value in after.items():
            step = f"{path}/{name.replace('~', '~0').replace('/', '~1')}"
            if name in before:
                yield from _operations(before[name], value, step)
            else:
                yield {"op": "add", "path": step, "value": value}
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for at, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _operations(one, other, f"{path}/{at}")
    else:
        yield {"op": "test", "path": path, "value": before}
        yield {"op": "replace", "path": path, "value": after}


class _WrittenCall(NamedTuple):
    """A call as it is written somewhere in a row; `rewrite` returns the row with another one."""

    tool: str
    arguments: Arguments
    rewrite: Callable[[str, Arguments], JsonValue]


def _corrected(row: JsonValue, sample: Sample | None, finding: Finding) -> JsonValue | None:
    """Return a row with what a finding expects; None if its gold is not found there once."""
    if not finding.argument and isinstance(finding.expected, list):
        return _with_calls(row, finding)
    change = _change(finding)
    if change is None:
        return None
    found = [one for one in _calls_in(row) if _is_named(one.tool, finding.tool)]
    golds = [
        (turn, place, call)
        for turn, one in (sample.call_turns if sample else ())
        for place, call in enumerate(one.calls)
        if call.tool == finding.tool
    ]
    fitting = [(one, new) for one in found if (new := change(one.tool, one.arguments))]
    due = [one[:2] for one in golds if change(one[2].tool, one[2].arguments)]
    at = due.index((finding.turn, finding.call)) if (finding.turn, finding.call) in due else 0
    if not fitting:
        return _with_other_alternative(row, finding)
    if len(fitting) != 1 and len(fitting) != len(due):
        return None
    call, new = fitting[at if len(fitting) == len(due) else 0]
    return call.rewrite(*new)


def _with_other_alternative(row: JsonValue, finding: Finding) -> JsonValue | None:
    """Return one of BFCL's rows with an accepted value beside the gold replaced, or None."""
    path: tuple[_Step, ...] = ("ground_truth", finding.call, finding.tool, finding.argument)
    accepted = value_at(row, path)
    if not isinstance(accepted, list) or finding.gold not in accepted:
        return None
    kept = [one for one in accepted if not _is_equal(one, finding.gold)]
    added = [] if finding.expected in kept else [finding.expected]
    return replaced_at(row, path, [*kept, *added])


def _change(finding: Finding) -> Callable[[str, Arguments], tuple[str, Arguments] | None] | None:
    """Return what corrects a call; it returns None for a call that does not have the gold."""
    gold, expected = finding.gold, finding.expected
    if not finding.argument:
        if not isinstance(expected, str) or gold != finding.tool:
            return None
        return lambda _tool, arguments: (expected, arguments)

    def change(tool: str, arguments: Arguments) -> tuple[str, Arguments] | None:
        path = steps_of(finding.argument, arguments)
        if path[0] not in arguments and gold is None and len(path) == 1:
            return tool, {**arguments, finding.argument: expected}
        if not _is_equal(value_at(arguments, path), gold):
            return None
        new = replaced_at(arguments, path, expected)
        return (tool, new) if isinstance(new, dict) else None

    return change


def _with_calls(row: JsonValue, finding: Finding) -> JsonValue | None:
    """Return a row with all calls of a turn replaced by those that are expected."""
    gold, expected = finding.gold, finding.expected
    if not isinstance(gold, list) or not isinstance(expected, list):
        return None
    if len(gold) != len(expected):
        return _with_other_calls(row, gold, expected)
    changed: JsonValue = row
    for due, call in zip(gold, expected, strict=True):
        if due == call or not isinstance(due, dict) or not isinstance(call, dict):
            continue
        found = [
            one
            for one in _calls_in(changed)
            if _is_named(one.tool, str(due["name"])) and _is_equal(one.arguments, due["arguments"])
        ]
        if len(found) != 1 or not isinstance(arguments := call["arguments"], dict):
            return None
        changed = found[0].rewrite(str(call["name"]), arguments)
    return changed


def _with_other_calls(
    row: JsonValue, gold: list[JsonValue], expected: list[JsonValue]
) -> JsonValue | None:
    """Return one of BFCL's rows with more or fewer calls; None for any other."""
    truth = row.get("ground_truth") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(truth, list) or len(truth) != len(gold):
        return None
    kept = list(zip(gold, truth, strict=True))
    calls: list[JsonValue] = []
    for call in expected:
        same = next((written for due, written in kept if due == call), None)
        match call:
            case {"name": str(name), "arguments": dict(arguments)} if same is None:
                same = {name: {one: [_wrapped(value)] for one, value in arguments.items()}}
        calls.append(same)
    return {**row, "ground_truth": calls} if all(isinstance(one, dict) for one in calls) else None


def _wrapped(value: JsonValue) -> JsonValue:
    """Return a value with the lists that BFCL's checker requires around members of objects."""
    if isinstance(value, dict):
        return {name: [one] for name, one in value.items()}
    if isinstance(value, list):
        return [_wrapped(one) if isinstance(one, dict) else one for one in value]
    return value


def _calls_in(row: JsonValue) -> Iterator[_WrittenCall]:
    """Yield the calls that are written anywhere in a row, in their order."""

    def whole(new: JsonValue) -> JsonValue:
        return new

    yield from _calls_at(row, whole)


_Rebuild = Callable[[JsonValue], JsonValue]  # returns the row with another value at a place


def _calls_at(value: JsonValue, rebuild: _Rebuild) -> Iterator[_WrittenCall]:
    if isinstance(value, str):
        yield from _calls_in_text(value, rebuild)
    elif isinstance(value, list):
        for at, one in enumerate(value):
            yield from _calls_at(one, _at(value, at, rebuild))
    elif isinstance(value, dict):
        own = [*_calls_of(value, rebuild)]
        yield from own
        for name, one in () if own else value.items():
            yield from _calls_at(one, _at(value, name, rebuild))


def _at(value: JsonValue, step: _Step, rebuild: _Rebuild) -> _Rebuild:
    return lambda new: rebuild(replaced_at(value, (step,), new))


def _calls_of(value: dict[str, JsonValue], rebuild: _Rebuild) -> Iterator[_WrittenCall]:
    """Yield the calls that an object is, in one of the notations of data sets."""
    match value:
        case {"API": [*names], "parameters": [*given]}:  # CallNavi's
            for at, (name, arguments) in enumerate(zip(names, given, strict=False)):
                if isinstance(name, str) and isinstance(arguments, dict):
                    yield _WrittenCall(name, arguments, _two_lists(value, at, rebuild))
            return
    name = next((one for one in _NAMES if isinstance(value.get(one), str)), "")
    held = next((one for one in _ARGUMENTS if one in value), "")
    if name and held and "description" not in value:  # else it is a tool's document
        arguments, is_text = value[held], False
        if isinstance(arguments, str):
            arguments, is_text = _json(arguments), True
        if isinstance(arguments, dict):

            def rewrite(tool: str, new: Arguments) -> JsonValue:
                return rebuild({**value, name: tool, held: _text(new) if is_text else new})

            yield _WrittenCall(str(value[name]), arguments, rewrite)
        return
    if len(value) == 1:  # BFCL's
        [(tool, accepted)] = value.items()
        if isinstance(accepted, dict) and all(isinstance(one, list) for one in accepted.values()):
            arguments = objects([first_call(value).get("arguments")])[0]
            rewrite_accepted = _accepting_others(accepted, arguments, rebuild)
            yield _WrittenCall(tool, arguments, rewrite_accepted)


def _two_lists(value: dict[str, JsonValue], at: int, rebuild: _Rebuild) -> Callable[..., JsonValue]:
    def rewrite(tool: str, arguments: Arguments) -> JsonValue:
        named = replaced_at(value, ("API", at), tool)
        return rebuild(replaced_at(named, ("parameters", at), arguments))

    return rewrite


def _accepting_others(
    accepted: Mapping[str, JsonValue], before: Arguments, rebuild: _Rebuild
) -> Callable[[str, Arguments], JsonValue]:
    """Return what writes a call with only its changed arguments' accepted values replaced."""

    def rewrite(tool: str, arguments: Arguments) -> JsonValue:
        return rebuild({tool: _accepting(accepted, before, arguments)})

    return rewrite


def _accepting(
    accepted: Mapping[str, JsonValue], before: Arguments, after: Arguments
) -> dict[str, JsonValue]:
    """Return what is accepted of each member, replaced where the value is another one after."""
    kept = {name: one for name, one in accepted.items() if name in after or name not in before}
    changed = {
        name: _only(accepted.get(name), before.get(name), value)
        for name, value in after.items()
        if name not in before or not _is_equal(before[name], value)
    }
    return {**kept, **changed}


def _only(accepted: JsonValue, before: JsonValue, after: JsonValue) -> JsonValue:
    """Return the list of accepted values with one value; it may still be left out if it might."""
    values = accepted if isinstance(accepted, list) else []
    may_lack: list[JsonValue] = [""] if "" in values else []
    match [values[:1], before, after]:
        case [[dict(members)], dict(), dict()]:
            return [_accepting(members, before, after), *may_lack]  # type: ignore[arg-type]
    return [_wrapped(after), *may_lack]


def _calls_in_text(text: str, rebuild: _Rebuild) -> Iterator[_WrittenCall]:
    """Yield the calls of a text that is JSON, or one call in Python's notation."""
    if text[:1] in ("{", "["):
        value = _json(text)
        if isinstance(value, dict | list):
            yield from _calls_at(value, lambda new: rebuild(_text(new)))
        return
    if not text.endswith(")"):
        return
    try:
        node = python_tree(text)
        if not isinstance(node, ast.Call) or node.args:
            return
        arguments = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return

    def rewrite(tool: str, new: Arguments) -> JsonValue:
        listed = ", ".join(f"{name}={value!r}" for name, value in new.items())
        return rebuild(f"{tool}({listed})")

    yield _WrittenCall(ast.unparse(node.func), arguments, rewrite)


def _is_named(name: str, tool: str) -> bool:
    """Whether a row's name is a tool's: names on the wire have other signs between words."""

    def plain(one: str) -> str:
        return "".join(letter if letter.isalnum() else "_" for letter in one)

    return plain(name) == plain(tool)


def _is_equal(one: JsonValue, other: JsonValue) -> bool:
    return one == other and isinstance(one, bool) is isinstance(other, bool)


def _json(text: str) -> JsonValue:
    with suppress(ValueError):
        return read_json(text)
    return None


def _text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)
