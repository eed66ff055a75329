"""Read catalog files in JSON, JSON lines and YAML (as plain JSON, without alias bombs)."""

import json
import re
from collections.abc import Callable, Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
from pydantic import JsonValue

from callwright.generators.catalogs.catalog import Problem, shown
from callwright.warehouse.engine import parquet_rows
from callwright.warehouse.errors import ConfigurationError, StoreError
from callwright.warehouse.exports.verify_certificate import CERTIFICATE, SCHEMA
from callwright.warehouse.json_text import DEEPEST, INTEGERS, depth
from callwright.warehouse.json_text import read_json as read_exactly
from callwright.warehouse.yaml_text import read_yaml, safe_loader

LARGEST = 64 * 2**20
LONGEST_LINE = 16 * 2**20  # bytes of a line, an item of a list or a row of a table
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OF_LINES = (".jsonl", ".ndjson")
_SOME = 2**20  # characters of a long list that are read at once
# tells where a value ends, whatever its numbers
_LEXER = json.JSONDecoder(parse_int=str, parse_float=str)
_BETWEEN = re.compile(r"[\s,]*")
_PLAIN = (  # the scalars of YAML 1.2's core schema; all else is text
    ("null", r"(?:~|null|Null|NULL|)", "~nN\0"),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?[1-9][0-9]*[eE][-+]?[0-9]+", "-+0123456789"),
    ("merge", r"<<", "<"),
)


# Tells the JSON value that a text states at a place, or why it states none.
Read: TypeAlias = Callable[[str, str], JsonValue | Problem]


class DocumentItem(NamedTuple):
    """One item of a file, with its place and value; `line` is where it begins (0: unknown)."""

    where: str
    value: JsonValue
    line: int = 0


def existing(path: Path) -> Path:
    """Return the path. Raises ConfigurationError if nothing is there."""
    try:
        found = path.exists()
    except OSError as error:
        raise ConfigurationError(f"{str(path)!r} can't be looked at ({error.strerror}).") from error
    if not found:
        message = f"There is no file or folder at {str(path)!r}; give the path of the catalog."
        raise ConfigurationError(message)
    return path


_BESIDE = (CERTIFICATE, SCHEMA)  # what our own exports have beside their data


def files_at(path: Path, suffix: str = ".json") -> list[Path]:
    """Return the file at `path`, or all files with this suffix below the folder, sorted.

    Raises ConfigurationError.
    """
    if not existing(path).is_dir():
        return [path]
    files = (file for file in path.rglob(f"*{suffix}") if file.name not in _BESIDE)
    found = sorted(file for file in files if file.is_file())
    if not found:
        raise ConfigurationError(f"The folder {str(path)!r} holds no {suffix} file.")
    return found


def the_file(path: Path, expected: str) -> Path:
    """Return the path of one file. Raises ConfigurationError if it is missing or a folder."""
    if existing(path).is_dir():
        raise ConfigurationError(f"{str(path)!r} is a folder; {expected} is one file.")
    return path


def read_text(path: Path) -> str | Problem:
    """Return the file's text without a byte order mark, or why it can't be read."""
    where = str(path)
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        return left_out(where, f"can't be read ({error.strerror})")
    if len(content) > LARGEST:
        return left_out(where, f"is larger than {LARGEST // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return left_out(where, f"is not UTF-8 (byte {error.start}: {error.reason})")


def read_json(path: Path) -> JsonValue | Problem:
    """Return the file's single JSON value, or why there is none."""
    text = read_text(path)
    return text if isinstance(text, Problem) else parse_document(text, str(path))


class FileLine(NamedTuple):
    """A non-blank line of a file, with its 1-based number and byte offset.

    `problem` says why its content can't be read.
    """

    number: int
    content: bytes
    problem: str = ""
    offset: int = 0


def stream_lines(path: Path) -> Iterator[FileLine]:
    """Yield the lines of a file one by one, to save memory. Raises OSError.

    Of a line over the size limit, only the number is kept.
    """
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE + 1), b""), 1):
            content, began = line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line, offset
            offset += len(line)
            if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
                if content.strip():
                    yield FileLine(number, content, offset=began)
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)  # noqa: PLW2901 - the rest of this line
                offset += len(line)
            yield FileLine(number, b"", f"it is longer than {LONGEST_LINE // 2**20} MiB", began)


def parse(text: str, where: str) -> JsonValue | Problem:
    """Return exactly the JSON value that `text` holds, or why there is none that can be kept."""
    try:
        return read_exactly(text)
    except json.JSONDecodeError as error:
        reason = f"is not JSON ({error})"
    except ValueError as error:
        reason = f"can't be read: {error}"
    return Problem(where=where, kind="bad_json", message=f"{where} {reason}; left out.")


def parse_document(text: str, where: str) -> JsonValue | Problem:
    """Parse a JSON document about tools, with bounds beyond 64 bits as floats, or say why not."""
    try:
        value: JsonValue = orjson.loads(text.encode(errors="surrogatepass"))
    except orjson.JSONDecodeError as error:
        message = f"{where} is not JSON ({error}); left out."
        return Problem(where=where, kind="bad_json", message=message)
    if depth(value) > DEEPEST:
        message = f"{where} is nested more than {DEEPEST} levels deep; left out."
        return Problem(where=where, kind="bad_json", message=message)
    return value


def read_rows(path: Path, read: Read = parse) -> Iterator[DocumentItem | Problem]:
    """Yield the items of a JSON list, a JSON-lines file or a Parquet file one by one.

    Any other JSON value is one item. A broken, oversized or unstorable item is reported, and the
    others are still read. Read lists of tools with `parse_document`, everything else exactly
    (`parse`).
    """
    if path.suffix == ".parquet":
        try:
            for number, row in enumerate(parquet_rows(path), 1):
                yield _item(row, f"{path}:{number}", read)
        except StoreError as error:
            yield Problem(where=str(path), kind="unreadable", message=f"{error} It is left out.")
        return
    if has_json_lines(path):
        yield from (row_of(line, path, read) for line in stream_lines(path))
        return
    try:
        with path.open(encoding="utf-8-sig") as file:
            is_list, size = file.read(_SOME).lstrip().startswith("["), path.stat().st_size
    except (OSError, UnicodeDecodeError):
        is_list, size = False, 0  # told below
    if is_list:
        yield from _items_of_list(path, read)
        return
    if size > LARGEST:
        why = f"is larger than {LARGEST // 2**20} MiB, and neither a JSON list nor JSON lines"
        yield left_out(str(path), why)
        return
    text = read_text(path)
    if isinstance(text, Problem):
        yield text
        return
    whole = read(text, str(path))
    if isinstance(whole, Problem):
        yield from _lines(text, path, whole, read)
    else:
        yield DocumentItem(f"{path}#", whole, 1)


def has_json_lines(path: Path) -> bool:
    """Whether a file holds JSON lines, judged by its suffix or by its first two lines.

    A file with such a suffix may begin with a broken line.
    """
    try:
        lines = stream_lines(path)
        first, second = next(lines, None), next(lines, None)
    except OSError:
        return False
    is_named = path.suffix in _OF_LINES
    if first is None or not (second or is_named):
        return False
    return _is_value(first) or (is_named and second is not None and _is_value(second))


def _is_value(line: FileLine) -> bool:
    """Whether a line is a JSON value by itself, even one that can't be kept exactly."""
    if line.problem:
        return True  # one without an end, of many megabytes
    try:
        _LEXER.decode(line.content.decode())
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
    return True


def _items_of_list(path: Path, read: Read) -> Iterator[DocumentItem | Problem]:
    """Yield the items of a JSON list; stop at an item that is not JSON."""
    index = 0
    try:
        with path.open(encoding="utf-8-sig") as file:
            head = file.read(_SOME)
            text, at, line = head.lstrip()[1:], 0, 1 + _lines_before(head)
            while True:
                gap = _BETWEEN.match(text, at)
                end = gap.end() if gap else at
                at, line = end, line + text.count("\n", at, end)
                if text.startswith("]", at):
                    return
                where = f"{path}#/{index}"
                try:
                    _, end = _LEXER.raw_decode(text, at)
                    is_whole, is_lost = end < len(text), False  # a number may go on
                except (ValueError, RecursionError) as error:
                    is_whole, is_lost = False, isinstance(error, RecursionError)
                if not is_whole:
                    # twice as much as before, so that a long item is not read again and again
                    is_lost = is_lost or len(text) - at > LARGEST
                    more = "" if is_lost else file.read(max(_SOME, len(text) - at))
                    if not more:
                        why = "is broken, nested too deeply or too long: it and all items behind it"
                        yield left_out(where, why, line)
                        return
                    text, at = text[at:] + more, 0
                    continue
                yield _item(text[at:end], where, read, line)
                at, index, line = end, index + 1, line + text.count("\n", at, end)
    except (OSError, UnicodeDecodeError) as error:
        yield left_out(f"{path}#/{index}", f"can't be read ({error})")


def _lines_before(text: str) -> int:
    """Return how many lines end before the first sign of a text."""
    return text.count("\n", 0, len(text) - len(text.lstrip()))


def left_out(where: str, why: str, line: int = 0) -> Problem:
    """Return the problem that a file, or a part of one, can't be read and is left out."""
    return Problem(where=where, kind="unreadable", message=f"{where} {why}; left out.", line=line)


def row_of(line: FileLine, path: Path, read: Read = parse) -> DocumentItem | Problem:
    """Return the JSON value of a line, or why it has none."""
    where = f"{path}:{line.number}"
    if line.problem:
        message = f"{where}: {line.problem}; left out."
        return Problem(where=where, kind="unreadable", message=message, line=line.number)
    try:
        text = line.content.decode()
    except UnicodeDecodeError as error:
        why = f"is not UTF-8 (byte {error.start}: {error.reason})"
        return left_out(where, why, line.number)
    return _item(text, where, read, line.number)


def _item(text: str, where: str, read: Read, line: int = 0) -> DocumentItem | Problem:
    if len(text) > LONGEST_LINE:
        return left_out(where, f"is longer than {LONGEST_LINE // 2**20} MiB", line)
    value = read(text, where)
    if isinstance(value, Problem):
        return value.with_changes(line=line)
    return DocumentItem(where, value, line)


def _lines(text: str, path: Path, whole: Problem, read: Read) -> Iterator[DocumentItem | Problem]:
    """Yield the value of each line; if no line is JSON, yield the file's one problem instead."""
    lines = ((at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip())
    rows = [_item(line, f"{path}:{at}", read, at) for at, line in lines]
    if all(isinstance(row, Problem) for row in rows):
        yield whole
        return
    yield from rows


class _NotJsonError(Exception):
    """A YAML value that JSON can't hold; never leaves this module."""


def parse_json_or_yaml(text: str, where: str) -> JsonValue | Problem:
    """Return the value of a JSON or YAML text, or why there is none."""
    value = parse_document(text, where)
    if not isinstance(value, Problem) or text.lstrip().startswith(("{", "[")):
        return value
    return parse_yaml(text, where)


def parse_yaml(text: str, where: str) -> JsonValue | Problem:
    """Return the JSON value of a YAML text, or why there is none."""
    import yaml

    try:
        return _plain(read_yaml(text, _loader()))
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
    except (_NotJsonError, ValueError, OverflowError, TypeError) as error:
        reason = str(error)
    message = f"{where} is neither JSON nor usable YAML ({reason})."
    return Problem(where=where, kind="bad_json", message=message)


def _loader() -> Any:  # noqa: ANN401 - PyYAML's C loader has no types
    class CoreLoader(safe_loader()):  # type: ignore[misc] # chosen when it runs
        yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012 - PyYAML's own way

    for tag, pattern, first in _PLAIN:
        begins = ["" if character == "\0" else character for character in first]
        name = f"tag:yaml.org,2002:{tag}"
        CoreLoader.add_implicit_resolver(name, re.compile(rf"{pattern}\Z"), begins)
    return CoreLoader


def _plain(loaded: object) -> JsonValue:
    """Return loaded YAML as a JSON tree; its depth and size are already limited."""
    if isinstance(loaded, dict):
        return {_key(key): _plain(item) for key, item in loaded.items()}
    if isinstance(loaded, list):
        return [_plain(item) for item in loaded]
    return _scalar(loaded)


def _key(key: object) -> str:
    """Return a key as text, as JSON requires: a response code 200 is "200"."""
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise _NotJsonError(f"the key {shown(key)} is not text")
    return str(_scalar(str(key)))


def _scalar(loaded: object) -> JsonValue:
    if isinstance(loaded, str):
        if any("\ud800" <= character <= "\udfff" for character in loaded):
            raise _NotJsonError(f"the text {shown(loaded)} holds half a character")
        return loaded
    if loaded is None or (isinstance(loaded, float) and isfinite(loaded)):
        return loaded
    if isinstance(loaded, int):  # a float beyond 64 bits, as JSON's own reader has it
        return loaded if loaded in INTEGERS else float(loaded)
    raise _NotJsonError(f"the value {shown(loaded)} is nothing that JSON knows")
