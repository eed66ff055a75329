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
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.bfcl import check_calls
from callwright.flows.evaluation.result_files import Reply, documents, named_now, read, replies_in
from callwright.validators.metrics.confetti.bfcl import DecodedCall
from callwright.warehouse.records import Call


class Gold(NamedTuple):
    """BFCL's questions with their accepted calls; questions without calls are left out."""

    functions: Mapping[str, Any]
    accepted: Mapping[str, Any]

    def judges(self, question: str) -> bool | None:
        """Whether the accepted calls of this question are known."""
        return named_now(question) in self.accepted

    def is_right(self, question: str, calls: tuple[Call, ...]) -> bool:
        """Whether these are the accepted calls.

        Providers that allow no dot in a name write another character in its place.
        """
        name = named_now(question)
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
