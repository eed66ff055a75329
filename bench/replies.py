"""Run public replies of real models through our reading of replies.

Usage: `python -m bench.replies PATH... [--gold FOLDER] [--show N]`. A path is a file or a folder
with BFCL's result files (`result`), HammerBench's logs or CallNavi's predictions (`predict`),
messages in OpenAI's form (`role`, `content`, `tool_calls`), tables with a column `raw_output`,
or answers that are an object (`raw_message_text`). A source is a folder below the path, or the
file. With BFCL's data in the folder `--gold`, the calls are also evaluated by BFCL's own check.
"""

import argparse
import csv
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from bench.bfcl import check_calls
from callwright.flows.evaluation.predictions import parse_calls
from callwright.llm.answers import read_object
from callwright.llm.chat import Completion
from callwright.llm.wire_format import WireCall, read_reply
from callwright.validators.metrics.confetti.bfcl import DecodedCall
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call

Outcome = Literal["calls", "no call", "object", "refused"]
_TEXTS = ("result", "predict", "raw_output")
_OBJECTS = ("raw_message_text",)
_CATEGORIES = {  # of BFCL's results before they had a version, as its data have them now
    "simple": "simple_python",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
}


class Reply(NamedTuple):
    """A reply: its text, the calls its provider extracted, and its question, "" if unknown."""

    text: str
    written: tuple[WireCall, ...] = ()
    question: str = ""
    is_object: bool = False


class Read(NamedTuple):
    """What reading a reply gives: the outcome, the problem if refused, and its calls."""

    outcome: Outcome
    problem: str = ""
    calls: tuple[Call, ...] = ()


def replies_in(value: Any, question: str = "") -> Iterator[Reply]:  # noqa: ANN401 - a document of any form
    """Yield the replies in a document, wherever they stand in it."""
    if isinstance(value, list):
        for member in value:
            yield from replies_in(member, question)
    if not isinstance(value, dict):
        return
    if value.get("role") == "assistant":
        yield _message(value)
        return
    question = str(value.get("id", question))
    for name, inner in value.items():
        if name in _TEXTS:
            yield from _results(inner, question)
        elif name in _OBJECTS and isinstance(inner, str):
            yield Reply(inner, question=question, is_object=True)
        else:
            yield from replies_in(inner, question)


def _message(message: Mapping[str, Any]) -> Reply:
    functions = [call.get("function", call) for call in message.get("tool_calls") or ()]
    content = message.get("content") or ""
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return Reply(text, tuple(_written(one["name"], one.get("arguments")) for one in functions))


def _results(value: Any, question: str) -> Iterator[Reply]:  # noqa: ANN401 - a text, calls, or the replies of several turns
    if isinstance(value, str):
        yield Reply(value, question=question)
    elif isinstance(value, list) and all(isinstance(one, dict) and len(one) == 1 for one in value):
        calls = [_written(name, given) for one in value for name, given in one.items()]
        yield Reply("", tuple(calls), question)
    elif isinstance(value, list):
        for member in value:
            yield from _results(member, "")


def _written(name: str, arguments: Any) -> WireCall:  # noqa: ANN401 - a text, or what it would say
    return WireCall(name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def read(reply: Reply) -> Read:
    """Read a reply as a build or an evaluation does."""
    if reply.is_object:
        try:
            read_object(reply.text)
        except ReplyError as error:
            return Read("refused", str(error))
        return Read("object")
    text, native = read_reply(reply.text, reply.written)
    parsed = parse_calls(Completion(text, native or (() if not text.strip() else None)), "json")
    if parsed.calls is None:
        return Read("refused", parsed.problem)
    calls = tuple(Call(tool=str(call.tool), arguments=call.arguments) for call in parsed.calls)
    return Read("calls" if calls else "no call", "", calls)


class Gold(NamedTuple):
    """BFCL's questions with their accepted calls; questions without calls are left out."""

    functions: Mapping[str, Any]
    accepted: Mapping[str, Any]

    def judges(self, question: str) -> bool | None:
        """Whether the accepted calls of this question are known."""
        return _named_now(question) in self.accepted

    def is_right(self, question: str, calls: tuple[Call, ...]) -> bool:
        """Whether these are the accepted calls.

        Providers that allow no dot in a name write another character in its place.
        """
        name = _named_now(question)
        functions = self.functions[name]
        own = {re.sub(r"\W", "_", one["name"]): one["name"] for one in functions}
        made = [
            DecodedCall(own.get(re.sub(r"\W", "_", call.tool), call.tool), call.arguments)
            for call in calls
        ]
        return (
            bool(made)
            and check_calls(functions, made, self.accepted[name], name.rpartition("_")[0]).valid
        )


def _named_now(question: str) -> str:
    category, _, number = question.rpartition("_")
    return f"{_CATEGORIES.get(category, category)}_{number}"


def read_gold(folder: Path) -> Gold:
    """Return BFCL's data found anywhere in a folder.

    Java and JavaScript are left out, because their values are written differently; so are the
    files of multi-turn, memory, web search and format tests.
    """
    functions: dict[str, Any] = {}
    accepted: dict[str, Any] = {}
    for path in sorted(folder.rglob("BFCL_v*.json")):
        if not re.search(
            r"java|multi_turn|memory|web_search|format|unused", str(path.relative_to(folder))
        ):
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                functions |= {row["id"]: row["function"]} if "function" in row else {}
                accepted |= {row["id"]: row["ground_truth"]} if "ground_truth" in row else {}
    return Gold(functions, {name: one for name, one in accepted.items() if name in functions})


class Source:
    """The results of reading one source's replies."""

    def __init__(self) -> None:
        """Start without any results."""
        self.outcomes: Counter[str] = Counter()
        self.problems: defaultdict[str, list[str]] = defaultdict(list)
        self.judged = self.right = 0

    def add(self, reply: Reply, gold: Gold) -> None:
        """Read one more reply."""
        found = read(reply)
        self.outcomes[found.outcome] += 1
        if found.problem:
            kind = re.sub(r"""'.*'|".*"|\d+|that of \S+""", "…", found.problem)[:70]
            self.problems[kind].append(
                f"{reply.question} {found.problem[:120]} {reply.text[:300]!r}"
            )
        if gold.judges(reply.question):
            self.judged += 1
            self.right += gold.is_right(reply.question, found.calls)

    def row(self) -> dict[str, Any]:
        """Return the source's figures."""
        counts = {
            name.replace(" ", "_"): self.outcomes[name]
            for name in ("calls", "no call", "object", "refused")
        }
        problems = {kind: len(texts) for kind, texts in self.problems.items()}
        return {
            "replies": self.outcomes.total(),
            **counts,
            "judged": self.judged,
            "right": self.right,
            "why": problems,
        }


def documents(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the documents of a file or a folder, each with the name of its source."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        inner = file.relative_to(path).parts[:-1] or (file.stem,)
        if file.suffix in {".json", ".jsonl"}:
            yield inner[0], _documents(file.read_text(encoding="utf-8"))
        elif file.suffix == ".csv":
            with file.open(encoding="utf-8", newline="") as lines:
                yield inner[0], list(csv.DictReader(lines))


def _documents(text: str) -> Any:  # noqa: ANN401 - one document, or one on each line
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def main() -> None:
    """Read the replies of each path, and print a row for each source."""
    parser = argparse.ArgumentParser(prog="python -m bench.replies", description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    parser.add_argument(
        "--gold", type=Path, metavar="FOLDER", help="BFCL's questions and accepted calls."
    )
    parser.add_argument(
        "--show",
        type=int,
        default=0,
        metavar="N",
        help="Show so many replies of each kind refused.",
    )
    parser.add_argument("--json", action="store_true", help="Print the figures as JSON.")
    arguments = parser.parse_args()
    csv.field_size_limit(sys.maxsize)
    gold = read_gold(arguments.gold) if arguments.gold else Gold({}, {})
    sources: defaultdict[str, Source] = defaultdict(Source)
    for path in arguments.paths:
        for name, document in documents(path):
            for reply in replies_in(document):
                sources[name].add(reply, gold)
    if arguments.json:
        print(json.dumps({name: source.row() for name, source in sources.items()}, indent=1))
        return
    print(
        "| source | replies | calls | no call | object | refused | judged | right"
        " |\n|---|---|---|---|---|---|---|---|"
    )
    for name, source in sources.items():
        print(
            f"| {name} |"
            f" {' | '.join(str(value) for key, value in source.row().items() if key != 'why')} |"
        )
    _show(sources.values(), arguments.show)


def _show(sources: Any, most: int) -> None:  # noqa: ANN401 - the values of a dictionary
    problems: defaultdict[str, list[str]] = defaultdict(list)
    for source in sources:
        for kind, texts in source.problems.items():
            problems[kind].extend(texts)
    for kind, texts in sorted(problems.items(), key=lambda one: -len(one[1])):
        print(f"\n{len(texts)} × {kind}")
        for text in random.Random(1).sample(texts, min(most, len(texts))):
            print(f"  {text}")


if __name__ == "__main__":
    main()
