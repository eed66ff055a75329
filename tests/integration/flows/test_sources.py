"""What a team has becomes a dataset: each record goes through the checks, and lands, waits, or
is left out with its reason.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from callwright.flows.pages.look import Look
from callwright.flows.pages.report import build_page
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import parse_recipe
from callwright.flows.run.land import BuildReport
from callwright.flows.settings import Settings
from callwright.flows.sources import read_sources, taken_sources
from callwright.generators.imports.reading import SOURCES, ImportedRecord, SampleFormat
from callwright.generators.taken import CALL, CONVERSATION
from callwright.warehouse.exports.formats import export_tables
from callwright.warehouse.releases import freeze, stream_release
from tests.support.flows.small_builds import build, settings_of, warehouse_of
from tests.unit.generators import test_sessions as sessions
from tests.unit.generators.test_sources import WEATHER, written

MAIL = {
    "name": "send_mail",
    "description": "Send a mail.",
    "parameters": {
        "type": "object",
        "required": ["to", "body"],
        "properties": {
            "to": {"type": "string", "description": "The address."},
            "body": {"type": "string", "description": "The text."},
        },
    },
}
BODY = "Dear Anna, my train is late and I will not make it to dinner in time. See you later! Tom"


def row(text: str, tool: str, arguments: Any, *more: Any) -> dict[str, Any]:
    made = {
        "id": "c",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(arguments)},
    }
    messages = [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        *more,
    ]
    return {
        "messages": messages,
        "tools": [{"type": "function", "function": one} for one in (WEATHER.signature, MAIL)],
    }


LINES = (
    row("Get the weather of a city. City: Ulm.", "get_weather", {"city": "Ulm"}),
    row("How warm is it in Oslo?", "get_weather", {"city": "Bergen"}),
    row(
        "Tell anna@example.org that my train is late.",
        "send_mail",
        {"to": "anna@example.org", "body": BODY},
    ),
    row(
        "Get the weather of a city. City: Bonn.",
        "get_weather",
        {"city": "Bonn"},
        {"role": "tool", "tool_call_id": "c", "content": '{"degrees": 7}'},
        {"role": "assistant", "content": "7 degrees."},
    ),
    row("Get the weather of a city. City: Ulm.", "get_weather", {"city": "Ulm"}),
    row("How is it in Ulm?", "get_weather", {"days": 2}),
    "<html>",
)


class TakenBuild:
    def __init__(self, home: Path) -> None:
        self.path = written(home / "logs.jsonl", *LINES)
        self.settings: Settings = settings_of(home / "work")
        recipe = {"name": "taken", "samples": [{"from": str(self.path), "format": "openai"}]}
        self.recipe = parse_recipe(recipe, home, "taken")
        self.report: BuildReport = build(self.recipe, self.settings)
        self.warehouse = warehouse_of(self.settings)

    def verdicts(self, request: str, decision: str = "unproved") -> dict[str, Any]:
        sql = (
            "select check_name, doubts from verdicts v join samples s on s.key = v.subject where"
            " s.request = ? and decision = ?"
        )
        return {
            one["check_name"]: json.loads(one["doubts"] or "[]")
            for one in self.warehouse.rows(sql, [request, decision])
        }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> TakenBuild:
    return TakenBuild(tmp_path_factory.mktemp("taken"))


def test_every_record_is_counted_where_it_went(built: TakenBuild) -> None:
    rows = {one.stage: one for one in built.report.funnel}
    taken = rows["taken"]
    assert (taken.entered, taken.passed, taken.rejected, taken.failed) == (7, 5, 1, 1)
    assert built.report.asked == built.report.planned == 7
    assert rows["format"].waiting == 1
    assert rows["land"].passed == 2
    assert rows["review"].waiting == 2
    [failed] = built.warehouse.rows("select reason from failures")
    assert failed["reason"].startswith("logs.jsonl:7: ")


def test_results_are_taken_as_they_were(built: TakenBuild) -> None:
    assert "facts" not in built.verdicts("Get the weather of a city. City: Bonn.", "contradicted")
    [kept] = built.warehouse.rows(
        "select kind, body ->> '$.turns[2].results[0].degrees' as degrees from samples where"
        " call_turns = 1 and kind = ?",
        [CONVERSATION],
    )
    assert kept == {"kind": CONVERSATION, "degrees": "7"}


def test_a_conversation_whose_call_returned_plain_text_lands(tmp_path: Path) -> None:
    returned = {"role": "tool", "tool_call_id": "c", "content": "sunny"}
    lines = [
        row(
            f"Get the weather of a city. City: {city}.",
            "get_weather",
            {"city": city},
            returned,
            {"role": "assistant", "content": said},
        )
        for city, said in (("Turin", "It is sunny in Turin."), ("Oslo", "It is rainy in Oslo."))
    ]
    path = written(tmp_path / "logs.jsonl", *lines)
    recipe = {"name": "plain", "samples": [{"from": str(path), "format": "openai"}]}
    settings = settings_of(tmp_path / "work")
    assert build(parse_recipe(recipe, tmp_path, "plain"), settings).landed == 1
    [landed] = warehouse_of(settings).rows("select request from accepted_samples")
    assert "Turin" in landed["request"]


def test_the_same_file_again_is_the_same_build_and_a_longer_one_another(built: TakenBuild) -> None:
    again = build(built.recipe, built.settings)
    assert (again.build, again.planned) == (built.report.build, 7)
    written(
        built.path,
        *LINES,
        row("Get the weather of the city Kiel.", "get_weather", {"city": "Kiel"}),
    )
    longer = build(built.recipe, built.settings)
    assert longer.build != built.report.build
    assert longer.asked == 8


def test_rows_without_tools_have_those_of_the_recipe(tmp_path: Path) -> None:
    named = row("Get the weather of a city. City: Ulm.", "get_weather", {"city": "Ulm"})
    strange = row("What is the time?", "get_time", {})
    for one in (named, strange):
        del one["tools"]
    hidden = {"role": "assistant", "content": 'call:get_weather{city:"Bonn"}'}
    words = {"messages": [{"role": "user", "content": "Weather in Bonn?"}, hidden]}
    path = written(tmp_path / "logs.jsonl", named, strange, words)
    recipe = {
        "name": "taken",
        "samples": [{"from": str(path), "format": "openai"}],
        "tools": [{"own": [{**WEATHER.signature, "category": "Weather"}]}],
    }
    settings = settings_of(tmp_path / "work")
    report = build(parse_recipe(recipe, tmp_path, "taken"), settings)
    [taken] = [one for one in report.funnel if one.stage == "taken"]
    assert (taken.passed, taken.failed) == (1, 2)
    reasons = [one["reason"] for one in warehouse_of(settings).rows("select reason from failures")]
    assert any("'get_time'" in one for one in reasons)
    assert any("'get_weather{' look like a call" in one for one in reasons)


def test_sessions_of_coding_agents_have_the_tools_of_the_recipe(tmp_path: Path) -> None:
    name = "mcp__town__get_weather"
    request = "Get the weather of a city. City: Ulm."
    call = {"type": "tool_use", "id": "c", "name": name, "input": {"city": "Ulm"}}
    returned = {"type": "tool_result", "tool_use_id": "c", "content": '{"degrees": 7}'}
    session = [
        sessions.entry("a", None, "user", request),
        sessions.entry("b", "a", "assistant", [call]),
        sessions.entry("c", "b", "user", [returned]),
        sessions.entry("d", "c", "assistant", sessions.text("7 degrees.")),
    ]
    other = [json.loads(json.dumps(one).replace(name, "Bash")) for one in session]
    (tmp_path / "projects").mkdir()
    written(tmp_path / "projects" / "first.jsonl", *session)
    written(tmp_path / "projects" / "other.jsonl", *other)
    tools = [{"own": [{**WEATHER.signature, "name": name}]}]
    source = {"from": "projects", "format": "claude-code"}
    stated = {"name": "mine", "tools": tools, "samples": [source]}
    settings = settings_of(tmp_path / "work")
    report = build(parse_recipe(stated, tmp_path, "mine"), settings)
    [taken] = [one for one in report.funnel if one.stage == "taken"]
    assert (taken.entered, taken.passed, taken.failed) == (2, 1, 1)
    [sample] = warehouse_of(settings).rows("select request, kind from samples")
    assert (sample["request"], sample["kind"]) == (request, CONVERSATION)
    [failure] = warehouse_of(settings).rows("select reason from failures")
    assert "It calls 'Bash'" in failure["reason"]


def test_a_record_that_is_too_large_for_the_warehouse_fails_and_those_beside_it_land(
    tmp_path: Path,
) -> None:
    large = row(
        "Get the weather of the city Bonn. " + "x" * 9_000_000, "get_weather", {"city": "Bonn"}
    )
    path = written(
        tmp_path / "logs.jsonl",
        large,
        row("Get the weather of a city. City: Ulm.", "get_weather", {"city": "Ulm"}),
    )
    recipe = {"name": "taken", "samples": [{"from": str(path), "format": "openai"}]}
    settings = settings_of(tmp_path / "work")
    report = build(parse_recipe(recipe, tmp_path, "taken"), settings)
    assert report.landed == 1
    [failed] = warehouse_of(settings).rows("select reason from failures")
    assert "it is larger than 4 MiB" in failed["reason"]


def test_tables_of_a_release_are_read_back_whole(built: TakenBuild, tmp_path: Path) -> None:
    keys = [
        one["key"]
        for one in built.warehouse.rows(
            "select key from samples where kind = ? order by key", [CALL]
        )
    ]
    freeze(built.warehouse, "v1", keys, "")
    export_tables(built.warehouse, stream_release(built.warehouse, "v1"), tmp_path / "out")
    records = list(SOURCES.named("parquet").read(tmp_path / "out"))
    assert sorted(one.sample.key for one in records if one.sample) == sorted(keys)
    assert {tool.name for one in records for tool in one.tools} == {"get_weather", "send_mail"}


PRIVATE = row(
    "Tell anna.schmidt@web.de that I come.",
    "send_mail",
    {"to": "anna.schmidt@web.de", "body": "I come."},
)


def with_personal_data(home: Path, rules: Any) -> tuple[BuildReport, Settings]:
    path = written(home / "logs.jsonl", PRIVATE)
    recipe = {
        "name": "private",
        "samples": [{"from": str(path), "format": "openai"}],
        "personal_data": rules,
    }
    settings = settings_of(home / "work")
    report = build(parse_recipe(recipe, home, "private"), settings)
    path.unlink()
    return report, settings


def test_personal_data_is_replaced_before_anything_is_kept(tmp_path: Path) -> None:
    report, settings = with_personal_data(tmp_path, "on")
    assert any(one.startswith("Personal data replaced: 1 mail") for one in report.remarks)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in kept if b"anna.schmidt" in path.read_bytes()] == []
    [sample] = warehouse_of(settings).rows("select request, gold from samples")
    address = json.loads(sample["gold"])[0]["arguments"]["to"]
    assert address in sample["request"]
    [draft] = warehouse_of(settings).rows("select body ->> '$.replaced.mail' as mails from drafts")
    assert draft == {"mails": "1"}
    assert {row.stage: row.personal_data for row in report.funnel if row.personal_data} == {
        "taken": 1
    }


def test_what_was_replaced_is_kept_in_a_vault_alone_where_one_is_named(tmp_path: Path) -> None:
    with_personal_data(tmp_path, {"mode": "on", "vault": str(tmp_path / "vault.jsonl")})
    kept = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and b"anna.schmidt" in path.read_bytes()
    ]
    assert kept == [tmp_path / "vault.jsonl"]
    assert (kept[0].stat().st_mode & 0o077) == 0
    [line] = [json.loads(one) for one in kept[0].read_text(encoding="utf-8").splitlines()]
    assert (line["where"], [*line["values"]]) == ("logs.jsonl:1", ["anna.schmidt@web.de"])


SHIP = {
    "name": "ship",
    "description": "Ship a parcel.",
    "parameters": {
        "type": "object",
        "properties": {"street": {"type": "string"}, "house_number": {"type": "string"}},
    },
}


def test_a_record_whose_call_would_be_wrong_afterwards_is_left_out_with_the_reason(
    tmp_path: Path,
) -> None:
    far = f"It is Rose Street, as always. {'Please be careful with it. ' * 3} House 14."
    rows = [
        row(text, "ship", {"street": "Rose Street", "house_number": number})
        for text, number in (("Ship it to 12 Rose Street.", "12"), (far, "14"))
    ]
    for one in rows:
        one["tools"] = [{"type": "function", "function": SHIP}]
    path = written(tmp_path / "logs.jsonl", *rows)
    recipe = {
        "name": "private",
        "samples": [{"from": str(path), "format": "openai"}],
        "personal_data": "on",
    }
    settings = settings_of(tmp_path / "work")
    build(parse_recipe(recipe, tmp_path, "private"), settings)
    [failed] = warehouse_of(settings).rows("select reason from failures")
    assert "what says 'house_number' before turn 1 would say another value" in failed["reason"]
    [kept] = warehouse_of(settings).rows("select request, gold from samples")
    arguments = json.loads(kept["gold"])[0]["arguments"]
    assert f"{arguments['house_number']} {arguments['street']}" in kept["request"]
    assert "Rose" not in kept["request"]


def test_a_report_counts_and_changes_nothing(tmp_path: Path) -> None:
    report, settings = with_personal_data(tmp_path, "report")
    assert any(one.startswith("Personal data found and kept: 1 mail") for one in report.remarks)
    [sample] = warehouse_of(settings).rows("select request from samples")
    assert "anna.schmidt@web.de" in sample["request"]
    [kept] = warehouse_of(settings).rows(
        "select kind, n_records, n_values, is_replaced from personal_data"
    )
    assert kept == {"kind": "mail", "n_records": 1, "n_values": 1, "is_replaced": False}
    assert sum(row.personal_data for row in report.funnel) == 1
    page = (
        build_page(
            Look(warehouse_of(settings), datetime.now(UTC), lambda path, _query: path),
            {},
            report.build,
        )
        or ""
    )
    assert "Personal data found and left as it is: 1 mail in 1 record." in page


def test_of_many_that_repeat_those_are_taken_that_differ(tmp_path: Path) -> None:
    cities = ("Ulm", "Bonn", "Kiel")
    rows = [
        row(f"What is the weather in {city}?", "get_weather", {"city": city})
        for city in cities
        for _ in range(5)
    ]
    path = written(
        tmp_path / "logs.jsonl",
        *rows,
        row("Tell anna@example.org hi.", "send_mail", {"to": "anna@example.org", "body": "hi"}),
        "{",
    )
    recipe = {"name": "few", "samples": [{"from": str(path), "format": "openai", "take": 2}]}
    settings = settings_of(tmp_path / "work")
    report = build(parse_recipe(recipe, tmp_path, "few"), settings)
    assert (
        "2 of 17 records taken. Of the others, 12 repeat another one, 2 were not drawn and 1 are"
        " unreadable." in report.remarks
    )
    assert report.asked == 3
    found = warehouse_of(settings).rows("select gold ->> '$[0].tool' as tool, body from samples")
    assert sorted(one["tool"] for one in found) == ["get_weather", "send_mail"]
    counts = warehouse_of(settings).rows(
        "select (body ->> 'seen')::int as seen from drafts where body ->> 'sample' is not null"
    )
    assert sorted(one["seen"] for one in counts) == [1, 5]


OWN_READER = """
from callwright.generators.imports.chats import ChatRow, reader_of_rows
from callwright.generators.imports.reading import SampleFormat

FORMAT = SampleFormat("mine", "our own log", reader_of_rows("mine", lambda row: ChatRow(row["chat"], row.get("tools"))))
"""


def test_a_format_of_ones_own_is_read_by_its_file(tmp_path: Path) -> None:
    (tmp_path / "my_log.py").write_text(OWN_READER, encoding="utf-8")
    shown = LINES[0]
    assert isinstance(shown, dict)
    written(tmp_path / "logs.jsonl", {"chat": shown["messages"], "tools": shown["tools"]})
    stated = {
        "name": "own",
        "samples": [{"from": "logs.jsonl", "format": "mine"}],
        "extensions": ["my_log.py:FORMAT"],
    }
    settings = settings_of(tmp_path / "work")
    report = build(parse_recipe(stated, tmp_path, "own"), settings)
    assert (report.asked, report.landed) == (1, 1)


def test_reading_that_is_cut_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    rows = [
        row(f"What is the weather in city {number}?", "get_weather", {"city": f"city {number}"})
        for number in range(2300)
    ]
    path = written(tmp_path / "logs.jsonl", *rows)
    is_cut = [True]

    def read(place: Path) -> Iterator[ImportedRecord]:
        for number, record in enumerate(SOURCES.named("openai").read(place)):
            if number == 2100 and is_cut:
                raise KeyboardInterrupt
            yield record

    stated = {"name": "cut", "samples": [{"from": str(path), "format": "own"}]}
    with SOURCES.including(SampleFormat("own", "rows that are cut off once", read)):
        recipe = parse_recipe(stated, tmp_path, "cut")
        with pytest.raises(KeyboardInterrupt):
            read_sources(recipe, settings_of(tmp_path / "work"), SilentProgress())
        is_cut.clear()
        for home in ("work", "undisturbed"):
            read_sources(recipe, settings_of(tmp_path / home), SilentProgress())
        [cut], [whole] = (
            taken_sources(recipe, settings_of(tmp_path / home)) for home in ("work", "undisturbed")
        )
    assert (cut.records, cut.unreadable) == (whole.records, whole.unreadable) == (2300, 0)
    assert list(cut.all()) == list(whole.all())
    assert list(cut.tools()) == list(whole.tools())
