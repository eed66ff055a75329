"""Verify an export by its certificate: `python verify_certificate.py FOLDER`.

It needs the standard library and jsonschema (4.18 or newer). Exit 0: all holds; 1: not all.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b, file_digest, sha256
from math import isclose, sqrt
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType, ValidationError
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

CERTIFICATE, SCHEMA, MANIFEST = "certificate.jsonl", "certificate.schema.json", "export.json"
Json = Any  # what a file holds is known only when it is read
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}  # words of published formats
_VALUES = ("const", "default", "enum", "examples")
_BROKEN = (OSError, LookupError, TypeError, ValueError, AttributeError)
# A pattern of somebody's may take for ever, so none is asked.
_Validator = extend(Draft202012Validator, {"pattern": lambda *_: iter(())})  # type: ignore[no-untyped-call]


def digest(value: Json) -> str:
    """Return the SHA-256 of a JSON value, by a text that depends on its content alone."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def opened(value: Json) -> Json:
    """Return a value; where it is text, what the text holds as JSON."""
    return json.loads(value) if isinstance(value, str | bytes) else value


def resolve(row: Json, pointer: str) -> Json:
    """Return what stands at a JSON pointer (RFC 6901), which leads on through strings of JSON."""
    value = row
    for token in pointer.split("/")[1:]:
        name, inside = token.replace("~1", "/").replace("~0", "~"), opened(value)
        value = inside[int(name)] if isinstance(inside, list) else inside[name]
    return value


def chosen_of(accepted: Json, due: Json) -> Json:
    """Return the due arguments, None for those that are not among the accepted values (BFCL)."""
    chosen = {}
    for name, options in accepted.items():
        if name in due:
            chosen[name] = due[name] if due[name] in map(_unwrapped, options) else None
        elif "" not in options:
            chosen[name] = None
    return chosen


def _unwrapped(value: Json) -> Json:
    if isinstance(value, list):
        return [_unwrapped(one) if isinstance(one, dict) else one for one in value]
    if isinstance(value, dict):
        return {name: one[0] if isinstance(one, list) else one for name, one in value.items()}
    return value


def plain_types(schema: Json) -> Json:
    """Return a schema with JSON Schema's words for types, where a format has words of its own."""
    if isinstance(schema, list):
        return [plain_types(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: one if name in _VALUES else plain_types(one) for name, one in schema.items()}
    if isinstance(stated := schema.get("type"), str | list):
        words = [stated] if isinstance(stated, str) else stated
        plain["type"] = [_TYPES.get(one, one) for one in words]
    return plain


def fit_problem(document: Json, arguments: Json, accepted: Json) -> str:
    """Return why a schema refuses arguments; what the user is asked for may be missing."""
    schema = plain_types(document["parameters"])
    asked = [one["argument"] for one in accepted if one["sort"] == "question"]
    schema["required"] = [name for name in schema.get("required", ()) if name not in asked]
    try:
        validator = _Validator(schema, registry=Registry())
        return "".join(one.message for one in validator.iter_errors(arguments))
    except (UnknownType, Unresolvable):
        return ""


def interval(met: int, whole: int) -> tuple[float, float]:
    """Return the bounds of a share with 95 % confidence (Wilson)."""
    z = 1.959963984540054
    middle, part = met + z * z / 2, z * sqrt(met * (whole - met) / whole + z * z / 4)
    return max(0, (middle - part) / (whole + z * z)), min(1, (middle + part) / (whole + z * z))


class Verification:
    """A folder being checked: `counts` says of what, `failures` what does not hold."""

    def __init__(self, folder: Path) -> None:
        """Take the folder of an export."""
        self.folder, self.counts, self.failures = folder, Counter[str](), list[str]()
        self._header: Json = {}
        self._splits, self._people = dict[str, str](), Counter[str]()
        self._rows, self._taken = dict[str, list[Json]](), Counter[tuple[str, int]]()

    def run(self) -> bool:
        """Check the folder; whether all holds."""
        with self._at(CERTIFICATE):
            validator = Draft202012Validator(json.loads((self.folder / SCHEMA).read_bytes()))
            first, *lines = (self.folder / CERTIFICATE).read_bytes().splitlines(keepends=True)
            self._header = json.loads(first)
            validator.validate(self._header)
            hashed = sha256(b"".join(lines)).hexdigest()
            self._hold(hashed == self._header["lines_sha256"], CERTIFICATE, "lines were changed")
            self._check_files()
            for number, text in enumerate(lines, 2):
                with self._at(f"{CERTIFICATE} line {number}"):
                    line = json.loads(text)
                    validator.validate(line)
                    self._check_sample(line, f"{CERTIFICATE} line {number} (sample {line['key']})")
            self._check_totals()
        return not self.failures

    def _hold(self, holds: object, place: str, told: str) -> None:
        self.failures += [] if holds else [f"{place}: {told}"]

    @contextmanager
    def _at(self, place: str) -> Iterator[None]:
        try:
            yield
        except (ValidationError, *_BROKEN) as error:
            told = f"{type(error).__name__} {error}".partition("\n")[0]
            self._hold(None, place, f"it can't be followed: {told}")

    def _check_files(self) -> None:
        header, release = self._header, self._header["release"]
        stated = {(name, one["sha256"]) for name, one in header["files"].items()}
        if (self.folder / MANIFEST).is_file():
            manifest = json.loads((self.folder / MANIFEST).read_bytes())
            told = [manifest[one] for one in ("format", "names", "release", "content_hash")]
            ours = [header["format"], header["names"], release["name"], release["content_hash"]]
            self._hold(told == ours, MANIFEST, "it is of another export than the certificate")
            stated |= {*manifest["files"].items()}
        for name, hashed in sorted(stated):
            self.counts["files"] += 1
            with self._at(name), (self.folder / name).open("rb") as file:
                same = file_digest(file, "sha256").hexdigest() == hashed
                self._hold(same, name, "it was changed")
        for name, about in header["files"].items():
            if (layout := about.get("layout")) in ("lines", "json"):
                with self._at(name):
                    data = (self.folder / name).read_bytes()
                    rows = json.loads(data) if layout == "json" else data.splitlines()
                    self._rows[name] = rows if isinstance(rows, list) else [rows]

    def _check_sample(self, line: Json, place: str) -> None:
        self._hold(line["key"] not in self._splits, place, "the sample has two lines")
        self._splits[line["key"]] = line["split"]
        self._people.update(line["people"])
        self.counts.update(samples=1, rows=len(line["rows"]), calls=len(line["calls"]))
        self.counts.update(end_states="end_state" in line)
        calls = {(one["turn"], one["call"]): one for one in line["calls"]}
        placed, called, rows = set[Json](), set[Json](), list[Json]()
        documents = dict[str, Json]()
        for about in line["rows"]:
            where, own = f"{about['file']} row {about['row'] + 1} (sample {line['key']})", {}
            self._taken[about["file"], about["row"]] += 1
            placed |= {(one["turn"], one["part"]) for one in about["words"]}
            called |= {(one["turn"], one["call"]) for one in about["calls"]}
            with self._at(where):
                rows_of = self._rows.get(about["file"], [])
                row = about["copy"] if "copy" in about else opened(rows_of[about["row"]])
                self._hold(digest(row) == about["sha256"], where, "the row was changed")
                for tool in about["tools"]:
                    own[tool["tool"]] = resolve(row, tool["at"])
                    same = digest(own[tool["tool"]]) == tool["sha256"]
                    self._hold(same, where, f"the tool {tool['tool']} was changed")
                rows.append((about, row, own, where))
            documents |= own
        for about, row, own, where in rows:
            with self._at(where):
                self._check_words(line, about["words"], row, where)
                self._check_calls(calls, about["calls"], row, {**documents, **own}, where)
                if "end_state" in about:
                    self._check_end(line["end_state"], resolve(row, about["end_state"]), where)
        same = called == set(calls) and len(calls) == len(line["calls"])
        self._hold(same, place, "a call stands in no row, or twice in the line")
        for due in line["calls"]:
            self._check_claims(due, placed, documents.get(due["tool"]), place)

    def _check_words(self, line: Json, places: Json, row: Json, where: str) -> None:
        stated = {(one["turn"], one["part"]): one for one in line["words"]}
        spans = [one for due in line["calls"] for claim in due["claims"] for one in claim["said"]]
        for place in places:
            here = place["turn"], place["part"]
            said = resolve(row, place["at"])[place["offset"] :][: stated[here]["length"]]
            same = digest(said) == stated[here]["sha256"]
            self._hold(same, where, f"the words of turn {here[0]} are others at {place['at']}")
            due = [one for one in spans if (one["turn"], one["part"]) == here]
            self.counts["spans"] += len(due)
            for one in due:
                same = said[one["start"] : one["end"]] == one["quote"]
                self._hold(same, where, f"{one['quote']!r} is not said in turn {here[0]}")

    def _check_calls(self, calls: Json, places: Json, row: Json, tools: Json, where: str) -> None:
        for place in places:
            due, last = calls[place["turn"], place["call"]], place["at"].rpartition("/")[2]
            given, name = opened(resolve(row, place["at"])), due["tool"]
            given = given if "name_at" in place else chosen_of(given, due["arguments"])
            named = resolve(row, place["name_at"]) if "name_at" in place else last
            self._hold(named == name, where, f"{named} is called where {name} is due")
            same = digest(given) == digest(due["arguments"])
            self._hold(same, where, f"the arguments of {name} are not those of the certificate")
            if "fits" in place:
                told = fit_problem(tools[name], given, due["accepted"])
                self.counts["schemas"] += 1
                same = bool(told) is not place["fits"]
                self._hold(same, where, f"whether {name} takes its call is stated wrongly {told}")

    def _check_end(self, end: Json, sample: Json, where: str) -> None:
        facts, origin = sample["facts"], sample.get("origin") or {}
        calls = [one for turn in sample["turns"] for one in turn.get("calls", ())]
        found = {
            "world": facts.get("environment", ""),
            "seed": facts.get("simulation", origin.get("seed")),
            "sha256": digest(sample.get("changes", [])),
            "chain": len(calls),
            "chain_sha256": digest([[one["tool"], one["arguments"]] for one in calls]),
        }
        self._hold(found == end, where, "the end state or the calls that lead there are others")

    def _check_claims(self, due: Json, placed: set[Json], document: Json, place: str) -> None:
        properties = document["parameters"].get("properties", {}) if document else {}
        defaults = {name: one["default"] for name, one in properties.items() if "default" in one}
        names = [one["argument"] for one in due["claims"]]
        same = sorted(names) == sorted(due["arguments"])
        self._hold(same, place, f"arguments of {due['tool']} have no claims, or several")
        for claim in due["claims"]:
            name, value = claim["argument"], due["arguments"].get(claim["argument"])
            self.counts[claim["standing"]] += 1
            for one in claim["said"]:
                same = (one["turn"], one["part"]) in placed
                self._hold(same, place, f"{name} is said in words that stand in no row")
                same = one["rule"] != "verbatim" or str(value).casefold() == one["quote"].casefold()
                self._hold(same, place, f"{name} = {value!r} is not word for word what is quoted")
            same = "default" not in claim["derived"] or defaults.get(name, value) == value
            self._hold(same, place, f"{name} = {value!r} is not its default")
        for one in due["accepted"]:
            name, value, sort = one["argument"], one["value"], one["sort"]
            same = value == (defaults if sort == "default" else due["arguments"]).get(name, value)
            same = name not in names if sort == "question" else same or sort == "equal_tool"
            self._hold(same, place, f"that {sort} {name} = {value!r} is accepted does not follow")
            self.counts["accepted"] += 1

    def _check_totals(self) -> None:
        header, taken = self._header, Counter(file for file, _ in self._taken)
        counted = {name: self.counts[name] for name in header["counts"]}
        self._hold(counted == header["counts"], CERTIFICATE, "its counts are not its lines'")
        for name, about in header["files"].items():
            due = about.get("rows", 0)
            there = len(self._rows.get(name, range(due)))
            told = f"it has {there} rows, {taken[name]} in the certificate, {due} in its header"
            self._hold(taken[name] == due == there, name, told)
        for (name, row), times in self._taken.items():
            self._hold(times == 1, f"{name} row {row + 1}", f"it stands in {times} lines")
        people = {one["person"]: one["samples"] for one in header["people"]}
        self._hold(people == self._people, CERTIFICATE, "people's samples are not its lines'")
        for one in header["readers"]:
            low, high = interval(min(one["caught"], one["planted"]), one["planted"])
            same = isclose(low, one["low"], abs_tol=1e-9) and isclose(high, one["high"])
            told = f"the error of {one['reader']} does not follow from its counts"
            self._hold(same and one["caught"] <= one["planted"], CERTIFICATE, told)
        if len(self._splits) == header["release"]["samples"]:
            keys, has_splits = sorted(self._splits), any(self._splits.values())
            listed = [[key, self._splits[key]] for key in keys] if has_splits else keys
            text = json.dumps(listed, separators=(",", ":")).encode()
            hashed = blake2b(text, digest_size=12).hexdigest()
            self.counts["releases"] += 1
            same = hashed == header["release"]["content_hash"]
            self._hold(same, CERTIFICATE, "the samples are not those of the content hash")


def main(arguments: list[str]) -> int:
    """Check a folder, print what was checked and what does not hold, and return the exit code."""
    checked = Verification(Path(arguments[0]) if arguments else Path(__file__).parent)
    holds = checked.run()
    told = ", ".join(f"{number} {name}" for name, number in sorted(checked.counts.items()))
    sys.stdout.write("".join(f"{one}\n" for one in checked.failures))
    sys.stdout.write(f"Checked: {told}.\n{'All holds.' if holds else 'It does not hold.'}\n")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
