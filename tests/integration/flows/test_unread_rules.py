"""A document with a rule that nothing reads: its samples wait with the sentence, unless a model
that reads language writes the same calls.
"""

import json
from pathlib import Path
from typing import Any

from callwright.flows.recipe import read_recipe
from callwright.llm.models import PROVIDERS
from callwright.warehouse.store import Warehouse
from tests.support.flows.small_builds import build, run_here, settings_of, warehouse_of

SENTENCE = "This endpoint requires either file_keys or file_urls, but not both"
READER = """
from callwright.llm.models import TEMPLATE_PROVIDER, Provider

PROVIDER = Provider("obedient", TEMPLATE_PROVIDER.open)
"""


def write_unmeasured_recipe(folder: Path, rule: str, **changes: Any) -> Path:
    text = {"type": "string"}
    urls = {"type": "array", "items": text, "description": f"Addresses of files. {rule}".strip()}
    keys = {**urls, "items": {"type": "string", "format": "binary"}}
    members = {
        "title": {**text, "description": "The title of the note."},
        "city": {**text, "description": "The city that it is for."},
        "file_keys": keys,
        "file_urls": urls,
    }
    schema = {"type": "object", "properties": members, "required": ["title", "city"]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    answers = {"200": {"description": "ok"}}
    send = {"operationId": "send_note", "summary": "Send a note", "requestBody": body}
    where = {"name": "city", "in": "query", "required": True, "schema": text}
    find = {"operationId": "find_notes", "summary": "Find notes", "parameters": [where]}
    paths = {
        "/notes": {"post": send | {"responses": answers}, "get": find | {"responses": answers}}
    }
    document = {"openapi": "3.0.3", "info": {"title": "Notes", "version": "1"}, "paths": paths}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "api.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "reader.py").write_text(READER, encoding="utf-8")
    recipe = {
        "name": "notes",
        "tools": [{"import": "openapi", "path": "api.json"}],
        "samples": {"perfect": 8},
        "readers": {"planted": 0},
        **changes,
    }
    path = folder / "recipe.json"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    return path


def built(folder: Path, rule: str, **changes: Any) -> Warehouse:
    path, settings = write_unmeasured_recipe(folder, rule, **changes), settings_of(folder / "home")
    build(read_recipe(path), settings)
    return warehouse_of(settings)


def landed_and_doubted(warehouse: Warehouse) -> tuple[set[str], dict[str, str]]:
    """Return the landed samples of `send_note`, and the reasons of those with the doubt."""
    about = "json_extract_string(gold, '$[0].tool') = 'send_note'"
    landed = {
        row["key"] for row in warehouse.rows(f"select key from accepted_samples where {about}")
    }
    doubted = warehouse.rows(
        "select subject, reason from verdicts where check_name = 'unread_rules'"
        " and decision = 'unproved'"
    )
    return landed, {row["subject"]: row["reason"] for row in doubted}


def test_samples_of_a_tool_with_an_unread_rule_wait_with_its_sentence(tmp_path: Path) -> None:
    warehouse = built(tmp_path, f"{SENTENCE}.")
    landed, doubted = landed_and_doubted(warehouse)
    assert doubted
    assert all(SENTENCE in reason for reason in doubted.values())
    assert not landed & {*doubted}
    waiting = warehouse.rows(
        "select subject from outcomes where stage = 'review' and outcome = 'waiting'"
    )
    assert {*doubted} <= {row["subject"] for row in waiting}


def test_the_same_document_without_the_rule_lands(tmp_path: Path) -> None:
    landed, doubted = landed_and_doubted(built(tmp_path, ""))
    assert landed
    assert not doubted


def test_a_model_that_reads_language_and_writes_the_same_calls_settles_the_rule(
    tmp_path: Path,
) -> None:
    models = {"checker": "obedient/reader"}
    stated = {"models": models, "extensions": ["reader.py:PROVIDER"]}
    try:
        landed, doubted = landed_and_doubted(built(tmp_path, f"{SENTENCE}.", **stated))
    finally:
        PROVIDERS.clear()
    assert doubted
    assert landed & {*doubted}


def test_tools_check_tells_the_sentences_before_a_build(tmp_path: Path) -> None:
    write_unmeasured_recipe(tmp_path, f"{SENTENCE}.")
    words = ("tools", "check", "--no-samples", str(tmp_path / "api.json"))
    shown = run_here(*words, home=tmp_path / "home")
    assert "callwright does not read these rules" in shown.stdout
    assert f'"{SENTENCE}" (1 tool)' in shown.stdout
    found = json.loads(run_here(*words, "--json", home=tmp_path / "home").stdout)
    assert {one["tool"] for one in found["problems"] if one["kind"] == "doubted_rule"} == {
        "send_note"
    }
