"""Sentences of a recipe's own: a small OpenAPI document is built by template/v1 in the words
that its user brings.
"""

import json
import re
from pathlib import Path
from typing import Any

from callwright.flows.recipe import read_recipe, read_recipe_file
from callwright.flows.settings import Settings
from tests.support.flows.small_builds import build, run_here, settings_of, warehouse_of

API = """openapi: 3.0.3
info: {title: Gym, version: "1"}
paths:
  /bookings:
    post:
      operationId: book_class
      summary: Book a place in a gym class
      parameters:
        - {name: course, in: query, required: true, schema: {type: string, enum: [yoga, spinning, boxing]}}
        - {name: day, in: query, required: true, schema: {type: string, format: date}}
        - {name: guests, in: query, schema: {type: integer, minimum: 1, maximum: 4}}
        - {name: page_token, in: query, schema: {type: string}}
      responses: {"200": {description: ok}}
  /lockers:
    post:
      operationId: rent_locker
      summary: Rent a locker
      parameters:
        - {name: months, in: query, required: true, schema: {type: integer, minimum: 1, maximum: 12}}
        - {name: floor, in: query, schema: {type: integer, minimum: 1, maximum: 5}}
      responses: {"200": {description: ok}}
"""
ENGLISH = """book_class:
  requests:
    - "put me down for (a class|{course}) [on {day}] [with {guests} guest[s]]"
    - "I'd like to join {course} on {day} [with {guests} guest[s]]."
    - "Is there still room in {course} on {day}?"
  questions: {course: ["Which class would you like?"], day: ["On which day?"], guests: ["How many guests?"]}
rent_locker:
  requests:
    - "give me a locker [on floor {floor}] [for {months} month[s]]"
    - "I need a locker for {months} month[s] [on floor {floor}]."
  questions: {months: ["For how many months?"]}
"""
CHINESE = """book_class:
  requests:
    - "给我报[{day}的](一节课|{course})[，带{guests}个朋友]"
    - "我想上{day}的{course}[，还有{guests}个朋友一起来]。"
  says: {course: {yoga: 瑜伽课, spinning: 动感单车课, boxing: 拳击课}}
  questions: {course: ["您想上哪节课？"], day: ["哪一天？"]}
rent_locker:
  requests:
    - "租一个[{floor}楼的]柜子[，租{months}个月]"
    - "我需要一个柜子，用{months}个月[，要在{floor}楼的]。"
"""
MINE = ("put me down", "join", "still room", "a locker")


def write_unmeasured_recipe(
    folder: Path, sentences: str, name: str = "gym.en.yaml", **changes: Any
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "api.yaml").write_text(API, encoding="utf-8")
    (folder / name).write_text(sentences, encoding="utf-8")
    source = {
        "import": "openapi",
        "path": "api.yaml",
        "plumbing": {"page_token": True},
        "sentences": name,
    }
    recipe = {
        "name": "gym",
        "tools": [source],
        "samples": {"perfect": 8},
        "readers": {"planted": 0},
        **changes,
    }
    path = folder / "recipe.yaml"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    return path


def accepted(settings: Settings) -> list[dict[str, Any]]:
    return warehouse_of(settings).rows(
        "select kind, request, build from accepted_samples order by kind, key"
    )


def callwright(home: Path, *words: object, code: int = 0) -> str:
    found = run_here(*map(str, words), home=home)
    assert found.returncode == code, found.stderr
    return found.stdout + found.stderr


def test_requests_are_said_in_them_read_back_and_accepted(tmp_path: Path) -> None:
    path = write_unmeasured_recipe(
        tmp_path, ENGLISH, samples={"perfect": 10, "imperfect": 4, "sQsA": 4}
    )
    assert read_recipe_file(path, with_files=True).problems == ()
    recipe, settings = read_recipe(path), settings_of(tmp_path / "home")
    (tmp_path / "gym.en.yaml").unlink()  # it is kept in the recipe
    build(recipe, settings)
    found = accepted(settings)
    assert len(found) >= 16
    assert all(any(words in one["request"].lower() for words in MINE) for one in found), found
    read = warehouse_of(settings).rows(
        "select distinct decision from verdicts where check_name = 'reading'"
    )
    assert [row["decision"] for row in read] == ["proved"]
    turns = "".join(
        row["body"]
        for row in warehouse_of(settings).rows("select body from samples where kind = 'sQsA'")
    )
    assert re.search(r"Which class would you like\?|On which day\?|For how many months\?", turns)


def test_english_tools_are_asked_for_in_chinese(tmp_path: Path) -> None:
    path = write_unmeasured_recipe(
        tmp_path, CHINESE, "gym.zh.yaml", languages=["zh"], samples={"perfect": 8, "imperfect": 4}
    )
    settings = settings_of(tmp_path / "home")
    build(read_recipe(path), settings)
    found = accepted(settings)
    assert len(found) >= 10
    assert all(re.search("报|上|柜子", one["request"]) for one in found), found
    assert not any(re.search("[A-Za-z]{3}", one["request"]) for one in found), found


def test_a_tool_without_sentences_is_told_of_and_refused_in_another_language_than_its_own(
    tmp_path: Path,
) -> None:
    part = ENGLISH[: ENGLISH.index("rent_locker")]
    result = callwright(tmp_path, "recipe", "check", write_unmeasured_recipe(tmp_path / "en", part))
    assert (
        "1 of 2 tools have no sentences in English, so template/v1 words their requests plainly:"
        " rent_locker." in result
    )
    shown = callwright(
        tmp_path, "build", write_unmeasured_recipe(tmp_path / "en", part), "--preview", "1"
    )
    assert "put me down" in shown.lower() or "join" in shown or "room" in shown or "locker" in shown
    chinese = write_unmeasured_recipe(
        tmp_path / "zh", CHINESE[: CHINESE.index("rent_locker")], "gym.zh.yaml", languages=["zh"]
    )
    said = callwright(tmp_path, "build", chinese, "--preview", "1", code=2)
    assert (
        "can't write requests in 'zh' for tools in en that have no sentences in it, rent_locker"
        in said
    )


def test_drafts_are_written_checked_and_used(tmp_path: Path) -> None:
    write_unmeasured_recipe(tmp_path, ENGLISH)
    callwright(tmp_path, "tools", "import", "openapi", tmp_path / "api.yaml", "--name", "gym")
    draft = tmp_path / "draft.en.yaml"
    assert "sentences for 2 of 2 tools" in callwright(
        tmp_path, "tools", "sentences", "gym", "--out", draft
    )
    assert "No mistakes." in callwright(tmp_path, "tools", "check", "gym", "--sentences", draft)
    draft.write_text(draft.read_text().replace("{months}", "{moths}"), encoding="utf-8")
    said = callwright(tmp_path, "tools", "check", "gym", "--sentences", draft, code=2)
    assert "draft.en.yaml:" in said
    assert "rent_locker has no parameter 'moths'; did you mean months?" in said
    assert "exists already" in callwright(
        tmp_path, "tools", "sentences", "gym", "--out", draft, code=2
    )
