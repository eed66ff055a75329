"""BFCL's questions with their possible answers: single turns, and our own export's steps of conversations.

Of the values that an answer accepts the first one is the gold. Where no answer stands beside a question none is due.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem, shown
from callwright.generators.catalogs.documents import DocumentItem, read_rows
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.messages import python_calls
from callwright.generators.imports.reading import Fields, ImportedRecord, SampleFormat, broken, unread

ANSWERS = "possible_answer"


def read_bfcl_samples(path: Path) -> Iterator[ImportedRecord]:
    """The questions of a file or folder. Raises ConfigurationError where there are none."""
    chats = ChatReader("bfcl")
    for file in sample_files(path):
        if ANSWERS in file.parts:
            continue
        category = file.stem.split("_", 2)[-1] if file.stem.startswith("BFCL_v") else file.stem
        answers = _answers(file)
        for row in read_rows(file):
            if isinstance(row, Problem):
                yield unread(row)
            elif isinstance(row.value, dict):
                yield _read_question(row.where, row.value, category, answers, chats)


def _answers(file: Path) -> Mapping[str, JsonValue] | None:
    """The ground truth by id of the questions in a file; None where no file has any."""
    beside = [folder / ANSWERS / file.name for folder in (file.parent, file.parent.parent)]
    found = next((one for one in beside if one.is_file()), None)
    if found is None:
        return None
    rows = (row.value for row in read_rows(found) if isinstance(row, DocumentItem))
    return {str(row["id"]): row.get("ground_truth") for row in rows if isinstance(row, dict) and "id" in row}


def _read_question(
    where: str, fields: Fields, category: str, answers: Mapping[str, JsonValue] | None, chats: ChatReader
) -> ImportedRecord:
    question, functions, names = fields.get("question"), fields.get("function"), fields.get("callwright_names")
    turns = question if isinstance(question, list) else []
    truth = answers.get(str(fields.get("id"))) if answers is not None else None
    why = ""
    if not turns or functions is None:
        why = "it has no question, or no functions: those of multi-turn questions stand in files of their own"
    elif len(turns) > 1 and isinstance(turns[0], list):
        why = "it has several turns, and what their calls return is known to BFCL's own simulators only"
    elif truth is None and answers is not None and "irrelevance" not in category:
        why = f"no possible answer has the id {shown(fields.get('id'))}"
    if why:
        return broken(where, f"The question can't be read: {why}; it is left out.")
    names = names if isinstance(names, dict) else {}
    said = [_message(one) for one in (turns[0] if isinstance(turns[0], list) else turns)]
    due = [_call(one, names) for one in truth] if isinstance(truth, list) else []
    made: list[JsonValue] = [{"role": "assistant", "tool_calls": due}] if due else []
    tools = [_renamed(one, names) for one in functions] if isinstance(functions, list) else None
    return chats.chat(where, ChatRow([*said, *made], tools, category=category))


def _message(message: JsonValue) -> JsonValue:
    """A message; one of the assistant that calls has its calls as Python."""
    if isinstance(message, dict) and message.get("role") == "assistant":
        calls = python_calls(str(message.get("content", "")))
        if calls:
            made: list[JsonValue] = [{"name": one.tool, "arguments": one.arguments} for one in calls]
            return {"role": "assistant", "tool_calls": made}
    return message


def _call(accepted: JsonValue, names: Fields) -> JsonValue:
    """A call with the first value that is accepted of each parameter; what may be missing before any value is left out."""
    if not isinstance(accepted, dict) or len(accepted) != 1:
        return accepted
    [(tool, values)] = accepted.items()
    given = {
        str(names.get(f"{tool}.{name}", name)): _plain(listed[0])
        for name, listed in (values.items() if isinstance(values, dict) else ())
        if isinstance(listed, list) and listed and listed[0] != ""
    }
    return {"name": names.get(tool, tool), "arguments": given}


def _plain(value: JsonValue) -> JsonValue:
    """A value out of the lists that the checker wants around the members of objects."""
    if isinstance(value, list):
        return [_plain(one) if isinstance(one, dict) else one for one in value]
    if isinstance(value, dict):
        wrapped = all(isinstance(one, list) and one for one in value.values())
        return {name: _plain(one[0] if wrapped and isinstance(one, list) else one) for name, one in value.items()}
    return value


def _renamed(document: JsonValue, names: Fields) -> JsonValue:
    """A function under the true names of itself and its parameters."""
    if not isinstance(document, dict) or not names:
        return document
    tool, parameters = str(document.get("name")), document.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    if isinstance(properties, dict) and isinstance(parameters, dict):
        true = {name: str(names.get(f"{tool}.{name}", name)) for name in properties}
        required = parameters.get("required")
        parameters = {**parameters, "properties": {true[name]: schema for name, schema in properties.items()}}
        parameters["required"] = (
            [true.get(str(one), str(one)) for one in required] if isinstance(required, list) else []
        )
    return {**document, "name": names.get(tool, tool), "parameters": parameters}


FORMAT = SampleFormat("bfcl", "BFCL's questions with their possible answers", read_bfcl_samples)
