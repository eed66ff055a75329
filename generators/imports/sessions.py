"""Read the sessions that coding agents write: Claude Code's and Codex's, JSON lines, a file each.

A session is one record, so a line that can't be read costs its session. What the program around
the agent writes among the messages (notices, summaries, its own errors) is nobody's words.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem
from callwright.generators.catalogs.documents import DocumentItem, left_out, read_rows
from callwright.generators.imports.chats import ChatReader, ChatRow, sample_files
from callwright.generators.imports.reading import (
    Fields,
    ImportedRecord,
    SampleFormat,
    items,
    names_beside,
    objects,
    part,
    unread,
    words,
)

_SUFFIX, _FIRST, _LARGEST = ".jsonl", 20, 256 * 2**20
_SPOKEN = ("user", "assistant")
_TEXT = ("text", "input_text")
# A text of tags alone, such as <environment_context>…</environment_context>: a program wrote it.
_TAGGED = re.compile(r"\s*<[a-z][^>]*>.*</[a-z][\w-]*>\s*", re.DOTALL)
_INTERRUPTED = "[Request interrupted by user"  # Claude Code's note, in the user's name


class _Session(NamedTuple):
    """How a program writes sessions.

    `knows` says whether a line is its own; `find` yields each conversation with the place in the
    lines where it begins.
    """

    knows: Callable[[JsonValue], bool]
    find: Callable[[Sequence[Fields]], Iterator[tuple[int, ChatRow]]]


def _reader(name: str, session: _Session) -> Callable[[Path], Iterator[ImportedRecord]]:
    def read(path: Path) -> Iterator[ImportedRecord]:
        chats = ChatReader(name, names_beside(path))
        files = [one for one in sample_files(path) if one == path or one.suffix == _SUFFIX]
        for file in files:
            lines = _lines(file, session)
            if isinstance(lines, Problem):
                yield unread(lines)
                continue
            for at, row in session.find(
                [one.value if isinstance(one.value, dict) else {} for one in lines]
            ):
                record = chats.chat(lines[at].where, row)
                yield record._replace(line=lines[at].line, item=record.item or file.stem)

    return read


def _lines(file: Path, session: _Session) -> list[DocumentItem] | Problem:
    """Return the lines of a session, or why there are none. Of other files few lines are read."""
    rows = read_rows(file)
    first = [*islice(rows, _FIRST)]
    if not any(isinstance(one, DocumentItem) and session.knows(one.value) for one in first):
        message = f"{file} is no session of this format."
        return Problem(where=str(file), kind="other_format", message=message)
    if file.stat().st_size > _LARGEST:
        return left_out(str(file), f"is larger than {_LARGEST // 2**20} MiB")
    lines: list[DocumentItem] = []
    for row in chain(first, rows):
        if isinstance(row, Problem):
            told = f"{row.message.removesuffix('; left out.')}; its whole session is left out."
            return row.with_changes(message=told)
        lines.append(row)
    return lines


def _is_of_claude_code(line: JsonValue) -> bool:
    return isinstance(line, dict) and "parentUuid" in line and bool(words(line, "sessionId"))


def _claude_code(lines: Sequence[Fields]) -> Iterator[tuple[int, ChatRow]]:
    """Yield the main conversation of a session, then those of its subagents."""
    places = {name: at for at, one in enumerate(lines) if (name := words(one, "uuid"))}
    parents: dict[int, int] = {}
    roots: dict[int, int] = {}
    ends: dict[int, int] = {}  # the last message of each conversation, by where it begins
    for at in places.values():
        # where a long conversation was summed up, the line behind it names what it follows
        parents[at] = places.get(words(lines[at], "parentUuid", "logicalParentUuid"), -1)
        roots[at] = roots.get(parents[at], at)
        if lines[at].get("type") in _SPOKEN:
            ends[roots[at] if lines[at].get("isSidechain") is True else -1] = at
    for _, end in sorted(ends.items()):
        chosen = _chosen(lines, _path(end, parents))
        messages: list[JsonValue] = [one for at in chosen for one in _message_of(lines[at])]
        if messages:
            yield min(chosen), ChatRow(messages)


def _path(end: int, parents: Mapping[int, int]) -> set[int]:
    """Return the places of a message and of all that it follows.

    Where somebody went back and said something else, the other branch is no part of it.
    """
    path, at = {end}, parents[end]
    while at >= 0 and at not in path:
        path.add(at)
        at = parents[at]
    return path


def _chosen(lines: Sequence[Fields], path: set[int]) -> list[int]:
    """Return the places of a path, with what belongs to it though it stands on a branch.

    An answer with several calls is several lines, and each of them may be followed by the result
    of its call alone. The calls of an answer come together, before their results.
    """
    begins: dict[str, int] = {}  # an answer's first line, by its id
    answers = {_answer_of(lines[at]) for at in path} - {""}
    chosen = path | {at for at, one in enumerate(lines) if _answer_of(one) in answers}
    for at in sorted(chosen):
        begins.setdefault(_answer_of(lines[at]), at)
    calls = {words(one, "id") for at in chosen for one in _parts(lines[at])} - {""}
    chosen |= {
        at
        for at, one in enumerate(lines)
        if any(words(result, "tool_use_id") in calls for result in _parts(one))
    }
    answered = {at: _answer_of(lines[at]) for at in chosen}
    return sorted(chosen, key=lambda at: (begins[answered[at]] if answered[at] else at, at))


def _answer_of(line: Fields) -> str:
    """Return the id of the answer that a line is a part of, "" if it is none."""
    return words(part(line, "message"), "id") if line.get("type") == "assistant" else ""


def _parts(line: Fields) -> list[Fields]:
    return objects(part(line, "message").get("content"))


def _message_of(line: Fields) -> Iterator[Fields]:
    """Yield the message of a line, without what the program wrote into it; nothing of others."""
    message, kind = part(line, "message"), line.get("type")
    notices = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
    is_notice = any(line.get(word) is True for word in notices)
    if kind not in _SPOKEN or is_notice or words(message, "model") == "<synthetic>":
        return
    content = _said(message.get("content")) if kind == "user" else message.get("content")
    if content not in ("", []):
        # each line is a part of an answer, so how the whole ends tells nothing of it
        yield {"role": words(message, "role") or str(kind), "content": content}


def _said(content: JsonValue) -> JsonValue:
    """Return what the user says of a content, without texts that are tags alone."""
    if isinstance(content, str):
        return "" if _is_note(content) else content
    if not isinstance(content, list):
        return content
    return [
        one
        for one in content
        if not (isinstance(one, dict) and one.get("type") in _TEXT and _is_note(words(one, "text")))
    ]


def _is_note(text: str) -> bool:
    """Whether a text in the user's name is the program's."""
    return text.startswith(_INTERRUPTED) or _TAGGED.fullmatch(text) is not None


def _is_of_codex(line: JsonValue) -> bool:
    kinds = ("session_meta", "response_item")
    return isinstance(line, dict) and line.get("type") in kinds and bool(part(line, "payload"))


def _codex(lines: Sequence[Fields]) -> Iterator[tuple[int, ChatRow]]:
    """Yield the conversation of a session; what the user took back is no part of it."""
    said = {words(one, "message").strip() for one in _events(lines, "user_message")}
    messages: list[Fields] = []
    turns: list[int] = []  # where the user's turns begin in the messages
    meta: Fields = {}
    for line in lines:
        payload = part(line, "payload")
        match line.get("type"):
            case "session_meta":
                meta = payload
            case "event_msg" if payload.get("type") == "thread_rolled_back":
                count = payload.get("num_turns")
                taken_back = turns[-count:] if isinstance(count, int) and count > 0 else []
                del messages[taken_back[0] if taken_back else len(messages) :]
                turns = turns[: len(turns) - len(taken_back)]
            case "response_item":
                message = _codex_message(payload, said)
                if message.get("role") == "user":
                    turns.append(len(messages))
                messages += [message] if message else []
            case _:
                continue
    system = words(part(meta, "base_instructions"), "text") or words(meta, "instructions")
    told: list[JsonValue] = [{"role": "system", "content": system}] if system else []
    yield 0, ChatRow([*told, *messages], meta.get("dynamic_tools"))


def _events(lines: Sequence[Fields], kind: str) -> Iterator[Fields]:
    payloads = (part(one, "payload") for one in lines if one.get("type") == "event_msg")
    return (one for one in payloads if one.get("type") == kind)


_UNSPOKEN = ("ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger")


def _codex_message(item: Fields, said: set[str]) -> Fields:
    """Return an item of the model's history as messages are read; {} for none.

    `said` is what the user typed: another message in the user's name is the program's.
    """
    kind = words(item, "type")
    if kind in _UNSPOKEN:
        return {}
    if kind == "custom_tool_call":  # its input is a text, not JSON
        given: Fields = {"input": item.get("input")}
        return {"type": "function_call", "name": item.get("name"), "arguments": given, **_id(item)}
    if kind == "local_shell_call":
        given = {name: one for name, one in part(item, "action").items() if name != "type"}
        return {"type": "function_call", "name": "local_shell", "arguments": given, **_id(item)}
    if kind.endswith("_call_output"):
        output = part(item, "output").get("content", item.get("output"))
        return {"type": "function_call_output", "output": _texts(output), **_id(item)}
    if item.get("role") != "user":
        return {name: one for name, one in item.items() if name != "id"}
    texts = [words(one, "text") for one in objects(item.get("content"))]
    is_typed = "\n".join(texts).strip() in said or any(one.strip() in said for one in texts)
    if not is_typed and (said or all(map(_is_note, texts))):
        return {"role": "system", "content": "\n".join(texts)}
    return {"role": "user", "content": _said(item.get("content"))}


def _id(item: Fields) -> Fields:
    return {"call_id": item.get("call_id")}


def _texts(output: JsonValue) -> JsonValue:
    """Return the texts of an output's parts as one; anything else as it is."""
    listed = [words(one, "text") for one in objects(output) if one.get("type") in _TEXT]
    return "\n".join(listed) if listed and len(listed) == len(items(output)) else output


CLAUDE_CODE = SampleFormat(
    "claude-code",
    "sessions of Claude Code, a file each",
    _reader("claude-code", _Session(_is_of_claude_code, _claude_code)),
)
CODEX = SampleFormat(
    "codex", "sessions of Codex, a file each", _reader("codex", _Session(_is_of_codex, _codex))
)
