"""Rules beside a document: what there is and how it is found is stated, and what calls change is
seen by both.
"""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from pydantic import JsonValue

from callwright.generators.environments.episodes import WorldEpisode, diff, world_of
from callwright.generators.environments.expressions import ExpressionCompiler
from callwright.generators.environments.opening import open_environment, open_shipped, ship_world
from callwright.generators.environments.protocol import Environment, SimulatedSettings
from callwright.generators.environments.rules import RuleScope, read_rules
from callwright.generators.environments.vocabularies import Wish, vocabulary_of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Tool

BOOK = {
    "title": "Book",
    "type": "object",
    "required": ["id", "title", "price"],
    "properties": {
        "id": {"type": "string"},
        "title": {"type": "string"},
        "price": {"type": "number"},
        "shelf": {"type": "string"},
    },
}
ONE = {"name": "book_id", "in": "path", "required": True, "schema": {"type": "string"}}
QUERY = {"name": "query", "in": "query", "required": True, "schema": {"type": "string"}}
COUNT = {"name": "copies", "in": "query", "schema": {"type": "integer", "default": 1}}


def answered(schema: JsonValue) -> JsonValue:
    return {"200": {"description": "-", "content": {"application/json": {"schema": schema}}}}


def operation(
    name: str, returns: JsonValue, *parameters: JsonValue, body: JsonValue = None
) -> JsonValue:
    stated: dict[str, JsonValue] = {
        "operationId": name,
        "parameters": list(parameters),
        "responses": answered(returns),
    }
    if body is not None:
        stated["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": body}},
        }
    return stated


FOUND = {"type": "object", "properties": {"found": {"type": "array", "items": BOOK}}}
TOTAL = {"type": "object", "properties": {"total": {"type": "number"}}}
BODY = {"type": "object", "properties": {"title": {"type": "string"}, "price": {"type": "number"}}}
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/books": {
            "get": operation("list_books", {"type": "array", "items": BOOK}),
            "post": operation("add_book", BOOK, body={**BODY, "required": ["title", "price"]}),
        },
        "/books/{book_id}": {
            "get": operation("read_book", BOOK, ONE),
            "patch": operation("change_book", BOOK, ONE, body=BODY),
            "delete": operation(
                "remove_book",
                {"type": "object", "properties": {"success": {"type": "boolean"}}},
                ONE,
            ),
        },
        "/search": {"get": operation("find_books", FOUND, QUERY)},
        "/quotes": {"get": operation("quote", TOTAL, {**ONE, "in": "query"}, COUNT)},
    },
}
STOCK = [
    {"id": "a1", "title": "Sea and Stars", "price": 10, "shelf": "top"},
    {"id": "b2", "title": "Stars", "price": 30, "shelf": "top"},
    {"id": "c3", "title": "Gardens", "price": 5, "shelf": "low"},
]
RULES: dict[str, Any] = {
    "data": {"stock": STOCK},
    "sizes": {"few": {"most": 1}, "many": {"most": 9}},
    "kinds": {"book": {"rows": "stock", "fields": {"words": "words_in(book.title)"}}},
    "functions": {"half(amount)": "round(amount / 2, 2)"},
    "refuses": {"given.copies|default(1) > 5": "{{ given.copies }} copies are too many."},
    "tools": {
        "find_books": {
            "let": {"wanted": "words_in(given.query)"},
            "answer": {
                "found": {
                    "each": {
                        "each": "rows('book')",
                        "as": "book",
                        "where": "wanted <= book.words",
                        "sort": "-book.price",
                        "show": {"id": "book.id", "title": "book.title", "price": "book.price"},
                    },
                    "as": "one",
                    "where": "true",
                }
            },
            "asked": ["found[].title"],
        },
        "quote": {
            "let": {
                "book": (
                    "find('book', 'id', given.book_id) or refuse('There is no book ' ~"
                    " quoted(given.book_id) ~ '.')"
                )
            },
            "answer": {
                "total": "given.copies * book.price - (half(book.price) if given.copies > 2 else 0)"
            },
        },
    },
    "sources": {"found": [["find_books", "found", "id"]]},
    "parameters": {
        "query": {"element": "keyword"},
        "quote.book_id": {"element": "identifier", "from": ["found"]},
    },
    "says": {"keyword": "rng.choice(stock).title"},
}


QUOTE = Tool(name="quote", description="-", parameters={}, category="-")


def shop(folder: Path, rules: dict[str, Any] = RULES, size: str = "many") -> Environment:
    for name, content in (("shop.json", DOCUMENT), ("rules.yaml", rules)):
        (folder / name).write_text(
            json.dumps(content) if name.endswith("json") else yaml.safe_dump(content)
        )
    settings = SimulatedSettings.model_validate(
        {
            "environment": "simulated",
            "path": folder / "shop.json",
            "rules": folder / "rules.yaml",
            "response_size": size,
        }
    )
    return open_environment(settings, store=folder / "store", secret=str)


def ask(episode: WorldEpisode, tool: str, **arguments: JsonValue) -> Any:
    return episode.answer(Call(tool=tool, arguments=arguments)).response


def test_what_rules_state_is_there_for_all_tools(tmp_path: Path) -> None:
    episode = world_of(shop(tmp_path)).begin()
    assert [(one["id"], one["title"], one["price"]) for one in ask(episode, "list_books")] == [
        (one["id"], one["title"], one["price"]) for one in STOCK
    ]
    assert ask(episode, "read_book", book_id="c3") == {
        "id": "c3",
        "title": "Gardens",
        "price": 5,
        "shelf": "low",
    }
    assert [one["id"] for one in ask(episode, "find_books", query="stars")["found"]] == ["b2", "a1"]
    assert ask(episode, "quote", book_id="b2", copies=3) == {"total": 75}


def test_what_calls_change_is_seen_by_rules(tmp_path: Path) -> None:
    world = world_of(shop(tmp_path))
    episode = world.begin()
    start = episode.snapshot()
    ask(episode, "change_book", book_id="a1", price=40, title="Stars again")
    assert [one["id"] for one in ask(episode, "find_books", query="stars")["found"]] == ["a1", "b2"]
    assert ask(episode, "find_books", query="sea")["found"] == []
    assert ask(episode, "quote", book_id="a1") == {"total": 40}
    ask(episode, "remove_book", book_id="b2")
    made = ask(episode, "add_book", title="New Stars", price=1)
    assert [one["id"] for one in ask(episode, "find_books", query="stars")["found"]] == [
        "a1",
        made["id"],
    ]
    gone = episode.answer(Call(tool="quote", arguments={"book_id": "b2"}))
    assert (gone.error, "no book 'b2'" in gone.problem) == ("invalid_value", True)
    assert [one.sort for one in diff(start, episode.state)].count("deleted") == 1
    assert [one["id"] for one in ask(world.begin(), "find_books", query="stars")["found"]] == [
        "b2",
        "a1",
    ]


def test_links_and_what_people_say_are_as_they_are_stated(tmp_path: Path) -> None:
    world = shop(tmp_path)
    assert [
        (one.source, one.field)
        for one in world.links
        if (one.tool, one.parameter) == ("quote", "book_id")
    ] == [("find_books", "id")]
    vocabulary = vocabulary_of(world)
    assert vocabulary.element("find_books", "query") == "keyword"
    assert vocabulary.asked("find_books") == ("found[].title",)
    wish = Wish("keyword", "main", "find_books", "query", 0, {"type": "string"})
    assert vocabulary.trip(Random(1)).say(wish) in [one["title"] for one in STOCK]


@pytest.mark.parametrize(
    ("path", "wrong", "told"),
    [
        (
            ("tools", "quote", "answer"),
            "given.copies * prize",
            "tools.quote.answer: 'prize' is known neither here",
        ),
        (
            ("tools", "quote", "answer"),
            "given.copies *",
            "tools.quote.answer: 'given.copies *' is no expression",
        ),
        (("tools", "quote", "answer"), {"each": "[1]", "were": "true"}, "'were' is none of"),
        (("tools", "quote"), {"let": {}}, "wrong at tools.quote.answer"),
        (("kinds", "book", "of"), "shelf", "'shelf', which is no kind"),
        (("functions",), {"half": "1"}, "'half' is not called as NAME"),
        (
            ("parameters", "quote.book_id"),
            {"element": "identifier", "from": ["lost"]},
            "'lost' is none of `sources`",
        ),
        (("files",), ["lost.yaml"], "wrong at files"),
        (
            ("tools", "find_book"),
            {"answer": "1"},
            "'find_book' is nothing in the document. Is it find_books",
        ),
        (
            ("parameters", "quote.copis"),
            {"element": "count"},
            "'quote.copis' is nothing in the document. Is it quote.copies",
        ),
        (
            ("sources", "found"),
            [["find_all", "found", "id"]],
            "'find_all' is nothing in the document.",
        ),
    ],
)
def test_what_is_wrong_with_rules_is_told_with_its_place(
    path: tuple[str, ...], wrong: JsonValue, told: str, tmp_path: Path
) -> None:
    rules = json.loads(json.dumps(RULES))
    place = rules
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = wrong
    with pytest.raises(ConfigurationError, match=re.escape(told)):
        shop(tmp_path, rules)


def test_an_expression_that_fails_names_its_place_and_reaches_nothing_outside(
    tmp_path: Path,
) -> None:
    for stated, told in (
        ("1 / 0", "division"),
        ("given.lost", "no attribute"),
        ("''.__class__", "unsafe"),
        ("[].copy() + [].append(1)", "unsafe"),
        ("'{0.__class__}'.format(0)", "unsafe"),
        ("rng", "known"),
    ):
        (tmp_path / "rules.yaml").write_text(
            yaml.safe_dump({"tools": {"quote": {"answer": stated}}})
        )
        with pytest.raises(ConfigurationError, match=rf"tools\.quote\.answer.*{told}"):
            RuleScope(read_rules(tmp_path / "rules.yaml"), 0).answer(QUOTE, {})


def test_what_an_expression_may_not_reach_is_refused_however_often_it_is_tried() -> None:
    compiler = ExpressionCompiler({"text"})
    assert upper(compiler) == "A"
    unsafe = compiler.compiled("text.__class__", "here", ["text"])
    for _again in range(2):
        with pytest.raises(ConfigurationError, match="unsafe"):
            unsafe({"text": "a"})
    assert upper(compiler) == "A"


def upper(compiler: ExpressionCompiler) -> object:
    return compiler.compiled("text.upper()", "here", ["text"])({"text": "a"})


def test_a_world_is_shipped_with_its_rules(tmp_path: Path) -> None:
    named = {
        "environment": "simulated",
        "path": tmp_path / "shop.json",
        "rules": tmp_path / "rules.yaml",
    }
    environment = shop(tmp_path)
    settings = SimulatedSettings.model_validate(named | {"response_size": "many"})
    document = json.loads(json.dumps(ship_world(environment, settings).document))
    shipped, own = (
        open_shipped(document, tmp_path / "elsewhere").begin(),
        world_of(environment).begin(),
    )
    for tool, arguments in (
        ("find_books", {"query": "stars"}),
        ("quote", {"book_id": "b2", "copies": 3}),
        ("list_books", {}),
    ):
        call = Call(tool=tool, arguments=arguments)
        assert shipped.answer(call) == own.answer(call)


def test_the_rules_that_the_documentation_shows_answer(tmp_path: Path) -> None:
    shown = (
        (Path(__file__).parents[4] / "docs" / "environments.md")
        .read_text(encoding="utf-8")
        .partition("### Rules")[2]
    )
    world = shop(
        tmp_path, yaml.safe_load(shown.partition("```yaml\n")[2].partition("```")[0]), size="long"
    )
    found = ask(world_of(world).begin(), "find_books", query="stars")["found"]
    assert [one["id"] for one in found] == ["a1", "b2"]
