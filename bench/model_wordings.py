"""How many requests a model words well, by the way it is asked: the table of docs/models.md.

Usage: `python -m bench.model_wordings MODEL [--cases 30] [--wording slots free] [--lines FILE]`,
or `make bench-model GGUF=FILE`. MODEL is a name as recipes have it, such as
`local/models/small.gguf`; a server on this machine takes --api-base.

`stated` is code's count: the request states every value of the gold and breaks no rule of form.
Whether it is also something that a person says, people read in the lines that --lines writes.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import callwright
from callwright.flows.api.surroundings import settings_of
from callwright.flows.settings import open_warehouse

TEMPLATE = "template/v1"


class Row(NamedTuple):
    """One way of asking: cases, requests that state all values, and what the model was asked."""

    wording: str
    cases: int
    stated: int
    calls: int
    prompt_tokens: int
    reply_tokens: int
    seconds: float

    @property
    def tokens_each(self) -> int | None:
        """Prompt and reply tokens for each request that states all values."""
        total = self.prompt_tokens + self.reply_tokens
        return round(total / self.stated) if self.stated else None


def main() -> None:
    """Word the same cases in each way, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--wording", nargs="+", default=["slots", "free"])
    parser.add_argument("--api-base", default="")
    parser.add_argument("--max-tokens", type=int, default=300)
    parser.add_argument("--lines", type=Path, help="write the requests here, for people to read")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    generator: dict[str, Any] = {"name": chosen.model, "max_tokens": chosen.max_tokens}
    if chosen.api_base:
        generator["api_base"] = chosen.api_base
    rows, lines = [], []
    for wording in chosen.wording:
        row, worded = measure(generator, wording, chosen.cases)
        rows.append(row._asdict() | {"tokens_each": row.tokens_each})
        lines += worded
    if chosen.lines:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        chosen.lines.write_text(text, encoding="utf-8")
    if chosen.json:
        print(json.dumps(rows, indent=2))
        return
    print(" ".join(f"{name:>13}" for name in rows[0]))
    for found in rows:
        values = (
            round(value, 1) if isinstance(value, float) else value for value in found.values()
        )
        print(" ".join(f"{value!s:>13}" for value in values))


def measure(
    generator: dict[str, Any], wording: str, cases: int
) -> tuple[Row, list[dict[str, object]]]:
    """Word so many single turns of the seed catalog in one way, in a work folder of their own."""
    recipe = callwright.make_recipe(
        "wordings",
        tools=[{"seed": "all"}],
        samples={"perfect": cases},
        models={"generator": generator, "checker": TEMPLATE, "judge": TEMPLATE},
        wording=wording,
        seed=17,
    )
    with tempfile.TemporaryDirectory(prefix="callwright-bench-") as folder:
        callwright.build(recipe, home=folder, workers=1)
        warehouse = open_warehouse(settings_of(folder))
        made = warehouse.rows("select body from samples where kind = 'perfect' order by key")
        [asked] = warehouse.rows(
            "select count(*)::int as calls, coalesce(sum(prompt_tokens), 0)::int as prompt_tokens,"
            " coalesce(sum(completion_tokens), 0)::int as reply_tokens,"
            " coalesce(sum(latency), 0)::double as seconds from llm_calls where model = ?",
            [generator["name"]],
        )
        failures = warehouse.rows("select stage, reason from failures order by stage, reason")
    lines: list[dict[str, object]] = []
    for row in made:
        user, due = json.loads(row["body"])["turns"][:2]
        calls = [{"tool": one["tool"], "arguments": one["arguments"]} for one in due["calls"]]
        lines.append({"wording": wording, "request": user["text"], "gold": calls})
    lines += [
        {"wording": wording, "stage": one["stage"], "failed": one["reason"]} for one in failures
    ]
    return Row(wording, cases, len(made), **asked), lines


if __name__ == "__main__":
    main()
