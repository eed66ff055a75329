"""The world made of a document's own schemas: what it answers, and that its answers go together."""

import asyncio
import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import JsonValue, ValidationError

from callwright.generators.environments.document_world import DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.episodes import START, diff, world_of
from callwright.generators.environments.opening import open_environment
from callwright.generators.environments.protocol import (
    Effect,
    Environment,
    RecordedSettings,
    SimulatedSettings,
)
from callwright.generators.kinds import all_kinds
from callwright.generators.multi_step.making import (
    domains_for,
    find_obstacle,
    plan_goals,
    share_over_domains,
)
from callwright.language.packs import of
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Goal, JsonSchema, Tool

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
BOOK = {
    "type": "object",
    "title": "Book",
    "required": ["id", "title"],
    "properties": {
        "id": {"type": "string", "example": "b4Kf92"},
        "title": TEXT,
        "genre": {"type": "string", "enum": ["crime", "poetry", "travel"]},
        "pages": {"type": "integer", "example": 320},
    },
}
LOAN = {
    "type": "object",
    "title": "Loan",
    "properties": {
        "id": NUMBER,
        "book_id": {"type": "string"},
        "due": {"type": "string", "format": "date"},
    },
}


def operation(
    name: str, summary: str, returns: dict[str, JsonValue], *parameters: dict[str, JsonValue]
) -> JsonValue:
    """An operation that answers with what it returns."""
    answer = {"200": {"description": "", "content": {"application/json": {"schema": returns}}}}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["library"],
        "parameters": parameters,
        "responses": answer,
    }


def parameter(name: str, place: str, schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """A parameter, required where it is part of the path."""
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


BOOKS = {"type": "array", "items": BOOK}
LOANS = {"type": "array", "items": LOAN}
GENRE = parameter("genre", "query", BOOK["properties"]["genre"])  # type: ignore[index]
ID, VAULT = parameter("id", "path", TEXT), parameter("vault_id", "path", TEXT)
DOCUMENT = {
    "openapi": "3.0.0",
    "info": {"title": "Library", "version": "1"},
    "paths": {
        "/books": {
            "get": operation("list-books", "List books", BOOKS, GENRE),
            "post": {
                **operation("add-book", "Add a book", BOOK),
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["title"],
                                "properties": {"title": TEXT},
                            }
                        }
                    },
                },
            },
        },
        "/books/{id}": {
            "get": operation("get-book", "Get a book", BOOK, ID),
            "delete": operation("remove-book", "Remove a book", {"type": "object"}, ID),
        },
        "/books/{id}/loans": {
            "get": operation("list-loans", "List the loans of a book", LOANS, ID)
        },
        "/vaults/{vault_id}": {
            "get": operation("open-vault", "Open a vault", {"type": "object"}, VAULT)
        },
    },
}


def library(folder: Path, document: object = DOCUMENT, *, seed: int = 1) -> Environment:
    path = folder / "api.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    settings = SimulatedSettings.model_validate(
        {"environment": "simulated", "path": path, "seed": seed}
    )
    return open_environment(settings, store=folder / f"responses{seed}.sqlite", secret=str)


@pytest.fixture
def world(tmp_path: Path) -> Environment:
    """A library that has books and lends them."""
    return library(tmp_path)


def answer(world: Environment, tool: str, **arguments: JsonValue) -> JsonValue:
    """The response to a call."""
    found = asyncio.run(world.answer(Call(tool=tool, arguments=arguments)))
    assert not found.problem
    return found.response


def test_what_a_list_has_is_the_same_when_it_is_read(world: Environment) -> None:
    books = answer(world, "list-books")
    assert isinstance(books, list)
    assert len(books) > 2
    for book in books:
        assert isinstance(book, dict)
        assert answer(world, "get-book", id=book["id"]) == book


def test_what_nothing_can_be_made_up_for_is_left_out_and_all_else_is_answered(
    tmp_path: Path,
) -> None:
    seal = {"type": "object", "properties": {"name": TEXT, "mark": {**TEXT, "pattern": "(?=a)b"}}}
    paths = {
        "/seals": {"get": operation("list-seals", "List seals", {"type": "array", "items": seal})}
    }
    seals = answer(library(tmp_path, {**DOCUMENT, "paths": paths}), "list-seals")
    assert isinstance(seals, list)
    assert all(isinstance(one, dict) and one.get("name") and not one.get("mark") for one in seals)


def test_what_was_made_is_new_and_known_where_the_call_is_stored_already(tmp_path: Path) -> None:
    made = answer(library(tmp_path), "add-book", title="Winter at Sea")
    again = library(
        tmp_path
    )  # another process: the store answers the call, and the world has not seen it
    assert isinstance(made, dict)
    assert made["id"] not in [book["id"] for book in answer(again, "list-books")]  # type: ignore[index,union-attr,call-overload]
    assert answer(again, "add-book", title="Winter at Sea") == made
    assert answer(again, "get-book", id=made["id"]) == made


def test_what_was_just_made_is_neither_off_nor_gone(tmp_path: Path) -> None:
    more = {"is_disabled": {"type": "boolean"}, "deleted_at": {**TEXT, "format": "date-time"}}
    shown = {**BOOK, "properties": {**BOOK["properties"], **more}}  # type: ignore[dict-item]
    post = {**DOCUMENT["paths"]["/books"]["post"], **operation("add-book", "Add a book", shown)}  # type: ignore[index,dict-item]
    paths = {**DOCUMENT["paths"], "/books": {"post": post}}  # type: ignore[dict-item]
    shelf = library(tmp_path, {**DOCUMENT, "paths": paths})
    for title in ("Winter at Sea", "Nine Doors", "A Small Boat", "Salt"):
        made = answer(shelf, "add-book", title=title)
        assert isinstance(made, dict)
        assert made["is_disabled"] is False
        assert "deleted_at" not in made


def test_what_belongs_to_a_thing_is_its_own_and_not_narrowed_by_the_owners_id(
    world: Environment,
) -> None:
    books = answer(world, "list-books")
    assert isinstance(books, list)
    owners = [str(book["id"]) for book in books if isinstance(book, dict)]
    loans = {owner: answer(world, "list-loans", id=owner) for owner in owners}
    for owner, own in loans.items():
        assert isinstance(own, list)
        assert len(own) > 2
        assert {loan["book_id"] for loan in own if isinstance(loan, dict)} == {owner}
    numbers = [
        loan["id"]
        for own in loans.values()
        if isinstance(own, list)
        for loan in own
        if isinstance(loan, dict)
    ]
    assert len(numbers) == len(set(map(str, numbers)))


def test_constants_are_sent_with_each_call_and_change_no_answer(tmp_path: Path) -> None:
    (tmp_path / "fixed").mkdir()
    path = tmp_path / "fixed" / "api.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT), encoding="utf-8")
    stated = {
        "environment": "simulated",
        "path": path,
        "seed": 1,
        "constants": {"list-books.genre": "poetry"},
    }
    settings = SimulatedSettings.model_validate(stated)
    fixed = open_environment(settings, store=tmp_path / "fixed.sqlite", secret=str)
    assert answer(fixed, "list-books")


def test_results_fit_their_schema_and_ids_look_like_the_example(world: Environment) -> None:
    books = answer(world, "list-books")
    schema = next(tool.returns for tool in world.tools if tool.name == "list-books")
    assert schema is not None
    Draft202012Validator(schema).validate(books)
    assert isinstance(books, list)
    ids = [book["id"] for book in books if isinstance(book, dict)]
    assert all(re.fullmatch(r"[a-z]\d[A-Z][a-z]\d\d[a-z]\d[A-Z][a-z]?", str(one)) for one in ids)


def test_the_same_seed_answers_alike_and_another_one_otherwise(tmp_path: Path) -> None:
    answers = []
    for place, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / place).mkdir()
        answers.append(answer(library(tmp_path / place, seed=seed), "list-books"))
    assert answers[0] == answers[1] != answers[2]


def test_links_lead_from_lists_to_what_takes_their_ids(world: Environment) -> None:
    links = {(link.tool, link.parameter, link.source, link.field) for link in world.links}
    assert ("get-book", "id", "list-books", "id") in links
    assert ("list-loans", "id", "list-books", "id") in links
    assert not any(tool == "open-vault" for tool, *_ in links)


def planned(world: Environment, domain: str, count: int) -> list[Goal]:

    async def goals() -> list[Goal]:
        return [goal async for goal in plan_goals(domain, "en", count, world, seed=3)]

    return asyncio.run(goals())


def test_nothing_is_asked_of_what_is_removed(world: Environment) -> None:
    for goal in planned(world, "library", 6):
        removed = [call.arguments["id"] for call in goal.calls if call.tool == "remove-book"]
        others = [call.arguments.get("id") for call in goal.calls if call.tool != "remove-book"]
        assert not any(one in others for one in removed)


def test_no_goal_asks_for_what_works_in_states_that_no_simulated_world_knows(
    tmp_path: Path,
) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    bound = []
    for item in document["paths"].values():
        for one in item.values():
            if isinstance(one, dict) and one.get("operationId") == "list-loans":
                one["description"] = "Can only be used on books that were lent."
                bound.append(one)
    assert bound
    world = library(tmp_path, document)
    goals = planned(world, "library", 6)
    assert goals
    assert "list-loans" not in {call.tool for goal in goals for call in goal.calls}


def test_the_link_that_is_missing_is_named(tmp_path: Path) -> None:
    paths = {"/vaults/{vault_id}": DOCUMENT["paths"]["/vaults/{vault_id}"]}  # type: ignore[index]
    world = library(tmp_path, {**DOCUMENT, "paths": paths})
    assert planned(world, "library", 1) == []
    assert "no result gives `vault_id` of open-vault;" in find_obstacle("library", "en", world)


def test_a_simulated_environment_has_one_source(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="needs one of them"):
        SimulatedSettings.model_validate({"environment": "simulated"})
    settings = SimulatedSettings.model_validate({"environment": "simulated", "catalog": "library"})
    with pytest.raises(ConfigurationError, match="'library'"):
        open_environment(settings, store=tmp_path / "responses.sqlite", secret=str)


def test_tools_of_too_small_domains_are_told_to_be_sorted_and_not_to_be_simulated(
    world: Environment,
) -> None:
    few = [tool for tool in world.tools if tool.name in ("list-books", "get-book")]
    with pytest.raises(
        ConfigurationError,
        match=r"4 tools or more .*'library' \(2\).*`categories`.*'multi_step_cross'",
    ):
        domains_for(all_kinds()["multi_step"], few)
    with pytest.raises(ConfigurationError, match=r"are of 'library' \(2\)\. Ask for 'multi_step'"):
        domains_for(all_kinds()["multi_step_cross"], few)
    with pytest.raises(ConfigurationError, match="simulate a document of yours"):
        domains_for(all_kinds()["multi_step"], [])


def test_each_language_is_asked_of_the_domains_that_have_tools_in_it(world: Environment) -> None:
    own = [tool.with_changes(category="图书馆", language="zh") for tool in world.tools]
    shares = share_over_domains(all_kinds()["multi_step"], 4, ["en", "zh"], [*world.tools, *own])
    assert [(one.language, one.place) for one in shares] == [("en", "library"), ("zh", "图书馆")]
    alone = share_over_domains(all_kinds()["multi_step"], 4, ["en", "zh"], world.tools)
    assert [(one.language, one.place) for one in alone] == [("en", "library"), ("zh", "library")]


def test_the_world_of_a_recipe_begins_episodes_with_the_effects_that_the_recipe_says(
    tmp_path: Path,
) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(yaml.safe_dump(DOCUMENT), encoding="utf-8")
    effects = {"open-vault": {"updates": "vault", "sets": {"open": True}}}
    stated = {"environment": "simulated", "path": path, "effects": effects}
    settings = SimulatedSettings.model_validate(stated)
    with pytest.raises(ConfigurationError, match=r"'open-vault'.*GET changes nothing"):
        open_environment(settings, store=tmp_path / "responses.sqlite", secret=str)
    told = settings.model_copy(update={"effects": {"remove-book": Effect(reads=True)}})
    episode = world_of(
        open_environment(told, store=tmp_path / "responses.sqlite", secret=str)
    ).begin()
    made = episode.answer(Call(tool="add-book", arguments={"title": "Winter at Sea"})).response
    assert isinstance(made, dict)
    assert not episode.answer(Call(tool="remove-book", arguments={"id": made["id"]})).problem
    assert [(one.sort, one.id) for one in diff(START, episode.state)] == [("created", made["id"])]


def test_a_recording_has_no_state_to_begin_with(tmp_path: Path) -> None:
    tool = {"name": "read", "description": "", "category": "c", "parameters": {"type": "object"}}
    (tmp_path / "responses.jsonl").write_text(f"{json.dumps({'tool': tool})}\n", encoding="utf-8")
    settings = RecordedSettings(environment="recorded", path=tmp_path / "responses.jsonl")
    recorded = open_environment(settings, store=tmp_path / "responses.sqlite", secret=str)
    with pytest.raises(
        ConfigurationError, match="the environment 'recorded', so it has no episodes"
    ):
        world_of(recorded)


def test_what_is_refused_is_told_as_the_document_declares(tmp_path: Path) -> None:
    fault = {
        "type": "object",
        "properties": {"status": NUMBER, "detail": TEXT, "hints": {"type": "array", "items": TEXT}},
    }
    body = {"application/json": {"schema": fault}}
    paths = {path: dict(stated) for path, stated in DOCUMENT["paths"].items()}  # type: ignore[attr-defined]
    for path, method, code in (("/books/{id}", "get", "404"), ("/books", "post", "400")):
        stated = paths[path][method]
        responses = {**stated["responses"], code: {"description": "", "content": body}}
        paths[path] = {**paths[path], method: {**stated, "responses": responses}}
    episode = world_of(library(tmp_path, {**DOCUMENT, "paths": paths})).begin()
    missing = episode.answer(Call(tool="get-book", arguments={"id": "never1"}))
    told = "There is no book 'never1'."
    assert missing.error == "not_found"
    assert missing.response == {"status": 404, "detail": told, "hints": [told]}
    unfit = episode.answer(Call(tool="add-book", arguments={}))
    assert isinstance(unfit.response, dict)
    assert (unfit.error, unfit.response["status"]) == ("invalid_value", 400)
    undeclared = episode.answer(Call(tool="remove-book", arguments={"id": "never1"})).response
    assert undeclared == {"error": {"code": "not_found", "status": 404, "message": told}}


def test_things_of_a_world_have_names_of_their_own_and_no_two_the_same(tmp_path: Path) -> None:
    for kind, called in (("Playlist", "name"), ("Bicycle", "name"), ("Container", "Name")):
        properties = {"id": {"type": "string", "example": "b4Kf92"}, called: TEXT}
        thing = {"type": "object", "title": kind, "properties": properties}
        listed = operation(f"list-{kind}s", f"List {kind}s", {"type": "array", "items": thing})
        document = {**DOCUMENT, "paths": {f"/{kind.lower()}s": {"get": listed}}}
        (tmp_path / kind).mkdir()
        found = answer(library(tmp_path / kind, document), f"list-{kind}s")
        names = (
            [str(one[called]) for one in found if isinstance(one, dict)]
            if isinstance(found, list)
            else []
        )
        assert len({*names}) == len(names) > 0
        assert all(word[0].isupper() for name in names for word in name.split())
        assert {word for name in names for word in name.split()}.isdisjoint(
            of("en").data["values"]["first_names"]
        )


@pytest.mark.parametrize("seed", range(6))
def test_a_period_that_people_state_ends_after_it_begins(seed: int) -> None:
    moment = {"type": "string", "format": "date-time"}
    pair: JsonSchema = {"createdUntil": moment, "createdSince": moment}
    tool = Tool(
        name="list_transfers",
        description="List transfers.",
        category="Pay",
        parameters={"type": "object", "properties": pair},
        returns={"type": "array", "items": LOAN},
    )
    world = DocumentWorld("pay", endpoints_of([tool], [("GET", "/transfers")]), ())
    for call in world.sayable_calls(seed):
        given = call.arguments
        assert str(given["createdSince"]) <= str(given["createdUntil"])
