"""The pages of samples: the filtered list, one sample in full, and the sample as a test."""

import json
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import orjson

from callwright.flows.pages.conversation import (
    show_answer,
    show_conversation,
    tell_marks,
    write_json,
)
from callwright.flows.pages.look import (
    Look,
    PromptText,
    Query,
    page_number,
    page_words,
    prompts_of,
    render,
)
from callwright.warehouse.browsing import (
    NEWEST,
    PAGE,
    SampleDetail,
    SampleFilter,
    filter_choices,
    find_samples,
    neighbours,
    samples_of,
)
from callwright.warehouse.exports.formats import record_line
from callwright.warehouse.records import Evidence, Sample, Tool
from callwright.warehouse.releases.reading import tool_of
from callwright.warehouse.rows import Row, RowPage
from callwright.warehouse.store import Warehouse

# What speaks against a sample is read first.
_FIRST: Mapping[str, int] = {"contradicted": -2, "unproved": -1}


class Choice(NamedTuple):
    """A value that a filter can have; `samples` is None if they were not counted."""

    value: str
    words: str
    samples: int | None = None


class Ancestor(NamedTuple):
    """A record from which a sample was made, with its own parents, prompts and body."""

    row: Row
    before: tuple["Ancestor", ...]
    prompts: list[PromptText]
    body: str


def samples_page(look: Look, query: Query) -> str:
    """Render the list of samples that match the filters."""
    wanted, page = filter_of(query), page_number(query)
    if look.kept is None:
        found = find_samples(look.warehouse, wanted, page)
    else:
        rows = samples_of(look.warehouse, sorted(look.kept))
        found = RowPage(rows, len(rows))
    fields, choices = page_words()["filters"], _all_choices(look.warehouse, look.copied_at)
    return look.render(
        "samples.html",
        found=found,
        wanted=wanted._asdict(),
        given={name: value for name, value in wanted._asdict().items() if value},
        fields=fields,
        choices={field: _choices(field, choices.get(field, [])) for field in fields},
        page=page,
        pages=-(-found.total // PAGE) if look.kept is None else 1,
        there=look.warehouse.rows("select count(*) as samples from samples")[0]["samples"],
    )


def sample_page(look: Look, query: Query, key: str) -> str | None:
    """Render one sample; None if there is none with this key."""
    detail = look.read_sample(key)
    if detail is None:
        return None
    sample = Sample.model_validate_json(detail.sample["body"])
    proofs = [
        Evidence.model_validate(one)
        for verdict in detail.verdicts
        if verdict["check_name"] == "grounding"
        for one in json.loads(verdict["evidence"])
    ]
    turns = show_conversation(sample, proofs)
    tools = {row["key"]: tool_of(row) for row in detail.tools}
    called = {call.tool for call in sample.all_calls}
    wanted = filter_of(query)
    before, after = ("", "") if look.kept is not None else neighbours(look.warehouse, wanted, key)
    return look.render(
        "sample.html",
        row=detail.sample,
        sample=sample,
        facts=sample.facts.model_dump(mode="json"),
        turns=turns,
        detail=detail,
        verdicts=sorted(detail.verdicts, key=lambda verdict: _FIRST.get(verdict["decision"], 0)),
        told=tell_marks(turns),
        last_calls=max((turn.at for turn in turns if turn.kind == "calls"), default=-1),
        record=orjson.dumps(record_line(sample, tools), option=orjson.OPT_INDENT_2).decode(),
        test=test_of(sample, tools),
        tools=sorted(
            (_shown_tool(row) for row in detail.tools if not row["is_withheld"]),
            key=lambda tool: tool["name"] not in called,
        ),
        called=called,
        lineage=_tree(detail),
        answers=[show_answer(row) for row in detail.answers],
        given={name: value for name, value in wanted._asdict().items() if value},
        before=before,
        after=after,
    )


def filter_of(query: Query) -> SampleFilter:
    """Return the filter of a query, ignoring other parameters."""
    return SampleFilter(
        **{name: query[name].strip()[:200] for name in SampleFilter._fields if query.get(name)}
    )


@lru_cache(maxsize=1)
def _all_choices(warehouse: Warehouse, _copied_at: datetime) -> dict[str, list[Row]]:
    """Return the choices of each filter, cached for each copy."""
    return filter_choices(warehouse)


def _choices(field: str, rows: list[Row]) -> list[Choice]:
    if field == "state":
        return [Choice(state, words) for state, words in page_words()["states"].items()]
    words = {"grade": page_words()["grades"]}.get(field, {})
    if field == "build" and rows:
        rows = [{"value": NEWEST, "samples": None}, *rows]
        words = {NEWEST: "the newest of each recipe"}
    return [
        Choice(row["value"], words.get(row["value"], row["value"]), row["samples"]) for row in rows
    ]


def _shown_tool(row: Row) -> Row:
    schema = json.loads(row["parameters"])
    required = schema.get("required", ())
    parameters = [
        {
            "name": name,
            "type": _type_of(parameter),
            "required": name in required,
            "about": parameter.get("description", "") if isinstance(parameter, dict) else "",
        }
        for name, parameter in schema.get("properties", {}).items()
    ]
    return row | {"arguments": parameters}


def _type_of(schema: object) -> str:
    if not isinstance(schema, dict):
        return "any"
    if "enum" in schema:
        return " | ".join(write_json(value) for value in schema["enum"])
    kind = schema.get("format") or schema.get("type", "any")
    return " | ".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _tree(detail: SampleDetail) -> Ancestor:
    """Return the tree of what a sample was made from; a repeated record is shown where nearest."""
    rows = {row["key"]: row for row in detail.ancestors}
    prompt_texts = {
        row["version"]: PromptText(f"{row['name']}.j2", row["text"]) for row in detail.prompts
    }
    seen: set[str] = set()

    def grow(row: Row) -> Ancestor:
        seen.add(row["key"])
        parents = [rows[key] for key in row["parents"] if key in rows and key not in seen]
        body = ""
        if row["body"]:
            body = write_json(
                {
                    name: value
                    for name, value in json.loads(row["body"]).items()
                    if name != "origin"
                },
                2,
            )
        return Ancestor(
            row, tuple(map(grow, parents)), prompts_of(row["prompt_version"], prompt_texts), body
        )

    return grow(rows[detail.sample["key"]])


def test_of(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """Return a sample's last due calls as a test of a model, "" if no calls are asked for."""
    if not sample.call_turns:
        return ""
    return render("sample_test.py.j2", key=sample.key, record=repr(record_line(sample, tools)))
