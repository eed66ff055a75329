"""Defects planted in the files of an export, each with the hashes forged anew where it can be."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import orjson

from callwright.warehouse.exports.verify_certificate import digest

Json = Any


class Files:
    """An export that a forger changes: its header, lines and rows, and hashes that fit again."""

    def __init__(self, folder: Path, rng: Random) -> None:
        self.folder, self.rng = folder, rng
        first, *rest = (folder / "certificate.jsonl").read_bytes().splitlines()
        self.header, self.lines = orjson.loads(first), [orjson.loads(line) for line in rest]
        self.manifest = orjson.loads((folder / "export.json").read_bytes())
        self.rows = {
            name: [orjson.loads(row) for row in (folder / name).read_bytes().splitlines()]
            for name, about in self.header["files"].items()
            if about.get("layout") == "lines"
        }

    def line(self, wanted: str = "calls") -> Json:
        """A line of a sample that has some of what is wanted."""
        return self.rng.choice([one for one in self.lines if one.get(wanted)])

    def row(self, wanted: str) -> tuple[Json, Json, Json]:
        """A row as the certificate has it, the row itself, and a place of it in the row."""
        found = [row for line in self.lines for row in line["rows"] if row[wanted]]
        found = [one for one in found if one["calls"]] or found
        about = self.rng.choice([one for one in found if one["file"] in self.rows])
        row = self.rows[about["file"]][about["row"]]
        return about, row, self.rng.choice(about[wanted])

    def claims(self, wanted: str) -> list[Json]:
        calls = [call for line in self.lines for call in line["calls"]]
        return [claim for call in calls for claim in call["claims"] if claim[wanted]]

    def accepted(self, sort: str) -> Json:
        calls = [call for line in self.lines for call in line["calls"]]
        return self.rng.choice(
            [one for call in calls for one in call["accepted"] if one["sort"] == sort]
        )

    def file(self) -> Path:
        names = [name for name, about in self.header["files"].items() if about.get("rows")]
        return self.folder / self.rng.choice(names)

    def forge(self) -> None:
        """Write all anew, with hashes of what is there now."""
        for line in self.lines:
            for about in line["rows"]:
                rows = self.rows.get(about["file"], [])
                if about["row"] < len(rows):
                    about["sha256"] = digest(rows[about["row"]])
        for name, rows in self.rows.items():
            text = b"".join(orjson.dumps(row) + b"\n" for row in rows)
            (self.folder / name).write_bytes(text)
            self.header["files"][name]["sha256"] = self.manifest["files"][name] = hash_of(text)
        body = b"".join(orjson.dumps(line) + b"\n" for line in self.lines)
        self.header["lines_sha256"] = hash_of(body)
        text = orjson.dumps(self.header) + b"\n" + body
        (self.folder / "certificate.jsonl").write_bytes(text)
        self.manifest["files"]["certificate.jsonl"] = hash_of(text)
        (self.folder / "export.json").write_bytes(orjson.dumps(self.manifest))


def hash_of(text: bytes) -> str:
    return sha256(text).hexdigest()


def put(row: Json, pointer: str, change: Callable[[Json], Json]) -> Json:
    """A row with a value changed that may stand in JSON text."""
    if not pointer:
        return change(row)
    token, _, rest = pointer[1:].partition("/")
    inside = orjson.loads(row) if isinstance(row, str) else row
    key: Any = int(token) if isinstance(inside, list) else token.replace("~1", "/")
    inside[key] = put(inside[key], f"/{rest}" if rest else "", change)
    return orjson.dumps(inside).decode() if isinstance(row, str) else inside


def changed(value: Json) -> Json:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value[:-1] + ("x" if not value.endswith("x") else "y")
        case [first, *rest]:
            return [changed(first), *rest]
        case dict() if value:
            name = min(value)
            return {**value, name: changed(value[name])}
        case _:
            return "other"


def in_row(files: Files, wanted: str, pointer: str, change: Callable[[Json], Json]) -> Json:
    """Change what stands at a place of a row; return the place."""
    about, row, place = files.row(wanted)
    files.rows[about["file"]][about["row"]] = put(row, place[pointer], change)
    return place


def argument_changed(files: Files) -> None:
    def other(arguments: Json) -> Json:
        inside = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        inside = changed(inside) if inside else {"strange": 1}
        return orjson.dumps(inside).decode() if isinstance(arguments, str) else inside

    in_row(files, "calls", "at", other)


def argument_added(files: Files) -> None:
    def more(arguments: Json) -> Json:
        inside = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        inside = {**inside, "strange": [1]}
        return orjson.dumps(inside).decode() if isinstance(arguments, str) else inside

    in_row(files, "calls", "at", more)


def call_renamed(files: Files) -> None:
    in_row(files, "calls", "name_at", changed)


def call_removed(files: Files) -> None:
    about, row, place = files.row("calls")
    above, _, _ = place["at"].rpartition("/")
    files.rows[about["file"]][about["row"]] = put(row, above, lambda _: None)


def words_altered(files: Files) -> None:
    in_row(files, "words", "at", lambda said: said[:1].swapcase() + "z" + said[1:])


def words_removed(files: Files) -> None:
    in_row(files, "words", "at", lambda _: "")


def tool_changed(files: Files) -> None:
    in_row(files, "tools", "at", lambda tool: {**tool, "description": "Something else."})


def schema_refuses(files: Files) -> None:
    """Types of a called tool are changed, and its hash with them."""
    about, row, place = files.row("tools")
    refusing = {"type": "object", "required": ["nobody_gives_this"], "properties": {}}
    new = put(row, place["at"], lambda tool: {**tool, "parameters": refusing})
    files.rows[about["file"]][about["row"]] = new
    found = new
    for token in place["at"].split("/")[1:]:
        inside = orjson.loads(found) if isinstance(found, str) else found
        found = inside[int(token) if isinstance(inside, list) else token]
    place["sha256"] = digest(found)


def row_dropped(files: Files) -> None:
    files.rng.choice([rows for rows in files.rows.values() if rows]).pop()


def row_doubled(files: Files) -> None:
    rows = files.rng.choice([rows for rows in files.rows.values() if rows])
    rows.append(files.rng.choice(rows))


def rows_swapped(files: Files) -> None:
    about, row, _ = files.row("words")
    rows = files.rows[about["file"]]
    number = next(at for at, one in enumerate(rows) if one != row)
    rows[about["row"]], rows[number] = rows[number], rows[about["row"]]


def span_shifted(files: Files) -> None:
    said = files.rng.choice(files.claims("said"))["said"][0]
    said["start"] += 1
    said["end"] += 1


def quote_altered(files: Files) -> None:
    said = files.rng.choice(files.claims("said"))["said"][0]
    said["quote"] = changed(said["quote"])


def value_altered(files: Files) -> None:
    """The value of a claim is another, in the certificate alone."""
    call = files.rng.choice(files.line()["calls"])
    call["arguments"] = changed(call["arguments"]) if call["arguments"] else {"strange": 1}


def claim_removed(files: Files) -> None:
    calls = [call for line in files.lines for call in line["calls"] if call["claims"]]
    files.rng.choice(calls)["claims"].pop()


def claim_raised(files: Files) -> None:
    files.rng.choice([one for one in files.claims("argument") if not one["said"]])["standing"] = (
        "said"
    )


def line_dropped(files: Files) -> None:
    files.lines.pop(files.rng.randrange(len(files.lines)))


def line_doubled(files: Files) -> None:
    files.lines.append(files.rng.choice(files.lines))


def key_doubled(files: Files) -> None:
    files.lines[0]["key"] = files.lines[-1]["key"]


def default_altered(files: Files) -> None:
    one = files.accepted("default")
    one["value"] = changed(one["value"])


def order_altered(files: Files) -> None:
    one = files.accepted("order")
    one["value"] = changed(one["value"])


def question_altered(files: Files) -> None:
    """A question counts as right where the argument is given."""
    claimed = [call for line in files.lines for call in line["calls"] if call["claims"]]
    call = files.rng.choice(claimed)
    name = call["claims"][0]["argument"]
    call["accepted"].append({"sort": "question", "argument": name, "value": None, "tool": ""})


def accepted_removed(files: Files) -> None:
    calls = [call for line in files.lines for call in line["calls"] if call["accepted"]]
    files.rng.choice(calls)["accepted"].clear()


def error_altered(files: Files) -> None:
    files.rng.choice(files.header["readers"])["caught"] -= 1


def interval_altered(files: Files) -> None:
    files.rng.choice(files.header["readers"])["low"] += 0.01


def people_altered(files: Files) -> None:
    files.rng.choice(files.header["people"])["samples"] += 1


def person_added(files: Files) -> None:
    files.line()["people"] = ["person-99"]


def counts_altered(files: Files) -> None:
    files.header["counts"][files.rng.choice(["samples", "calls", "said", "accepted"])] += 1


def content_altered(files: Files) -> None:
    release = files.header["release"]
    release["content_hash"] = files.manifest["content_hash"] = "0" * 24


def split_altered(files: Files) -> None:
    line = files.line("key")
    line["split"] = "train" if line["split"] == "test" else "test"


def end_altered(files: Files) -> None:
    end = files.line("end_state")["end_state"]
    end["seed"] = (end["seed"] or 0) + 1


def chain_altered(files: Files) -> None:
    files.line("end_state")["end_state"]["chain_sha256"] = "0" * 64


def words_hash_altered(files: Files) -> None:
    files.line("words")["words"][0]["sha256"] = "0" * 64


def fit_altered(files: Files) -> None:
    rows = [row for line in files.lines for row in line["rows"]]
    calls = [one for row in rows for one in row["calls"] if "fits" in one]
    one = files.rng.choice(calls)
    one["fits"] = not one["fits"]


def hash_altered(files: Files) -> None:
    """The hash of a file is another in the certificate and in the manifest."""
    files.forge()
    name = files.rng.choice(list(files.header["files"]))
    text = (files.folder / "export.json").read_bytes()
    (files.folder / "export.json").write_bytes(
        text.replace(files.manifest["files"][name].encode(), b"0" * 64)
    )


def file_truncated(files: Files) -> None:
    path = files.file()
    text = path.read_bytes()
    path.write_bytes(text[: files.rng.randrange(len(text) - 1)])


def byte_flipped(files: Files) -> None:
    path = files.file()
    text = bytearray(path.read_bytes())
    text[files.rng.randrange(len(text))] ^= 1
    path.write_bytes(text)


def file_removed(files: Files) -> None:
    files.file().unlink()


def certificate_truncated(files: Files) -> None:
    path = files.folder / "certificate.jsonl"
    text = path.read_bytes()
    path.write_bytes(text[: files.rng.randrange(len(text) - 1)])


def readme_altered(files: Files) -> None:
    with (files.folder / "README.md").open("a") as file:
        file.write("It is perfect.")


FORGED = (
    argument_changed,
    argument_added,
    call_renamed,
    call_removed,
    words_altered,
    words_removed,
    tool_changed,
    schema_refuses,
    row_dropped,
    row_doubled,
    rows_swapped,
    span_shifted,
    quote_altered,
    value_altered,
    claim_removed,
    claim_raised,
    line_dropped,
    line_doubled,
    key_doubled,
    default_altered,
    order_altered,
    question_altered,
    accepted_removed,
    error_altered,
    interval_altered,
    people_altered,
    person_added,
    counts_altered,
    content_altered,
    split_altered,
    words_hash_altered,
    fit_altered,
)
OF_TASKS = (end_altered, chain_altered)
RAW = (
    hash_altered,
    file_truncated,
    byte_flipped,
    file_removed,
    certificate_truncated,
    readme_altered,
)
