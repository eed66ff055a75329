"""The sentences of the seed catalog: each tool has some, they say any of its values, and each is
read as just that call.
"""

from collections import defaultdict
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from random import Random

import pytest

from callwright.generators.catalogs.openapi import read_openapi
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import fill_in
from callwright.language.calls.tools import ToolView, view_of
from callwright.language.schemas import json_type
from callwright.llm.template.sentences import (
    ToolSentences,
    all_sentences,
    recognise,
    sentences_of,
    word_sentence,
)
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Language, Tool

_ENOUGH = 4
TOP = Path(__file__).parents[4]


@cache
def categories() -> dict[tuple[str, Language], list[Tool]]:
    found: dict[tuple[str, Language], list[Tool]] = defaultdict(list)
    for tool in seed_tools():
        if tool.category != "kinds":
            found[tool.category, tool.language].append(tool)
    return found


PLACES = sorted(categories())


def own(tool: Tool) -> ToolSentences:
    found = sentences_of(view_of(tool.signature), tool.language)
    assert found is not None, tool.name
    return found


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_each_tool_has_sentences_and_questions(place: tuple[str, Language]) -> None:
    for tool in categories()[place]:
        found = own(tool)
        assert len(found.requests) >= _ENOUGH
        assert found.requests[0].is_bare
        assert not all(one.is_bare for one in found.requests)
        assert set(found.questions) == set(tool.properties)
        flags = {name for name, schema in tool.properties.items() if json_type(schema) == "boolean"}
        assert flags <= found.says.keys()
        for name, phrases in found.says.items():
            schema = tool.properties[name]
            choices = (
                {True, False}
                if name in flags
                else {*(schema.get("enum") or (schema.get("items") or {})["enum"])}
            )
            assert set(phrases) == choices, (tool.name, name)


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_any_of_its_values_can_be_said_and_no_other(place: tuple[str, Language]) -> None:
    for tool in categories()[place]:
        names = sorted(tool.properties)
        for some in chain.from_iterable(
            combinations(names, count) for count in range(len(names) + 1)
        ):
            assert own(tool).requests[0].draw(frozenset(some), Random(0)) is not None, (
                tool.name,
                some,
            )
        assert all(one.slots <= set(names) for one in own(tool).requests)


@pytest.mark.parametrize("place", PLACES, ids="-".join)
def test_what_a_sentence_asks_for_is_read_as_that_call_of_that_tool(
    place: tuple[str, Language],
) -> None:
    tools, language = categories()[place], place[1]
    views = [view_of(tool.signature) for tool in tools]
    rng, worded = Random(repr(place)), 0
    for view, tool in zip(views, tools, strict=True):
        for _ in range(12):
            arguments = _arguments(view, tool, language, rng)
            found = arguments is not None and word_sentence(view, arguments, language, rng)
            if arguments is not None and found:
                worded += 1
                assert recognise(views, found.request, language) == view, found.request
    assert worded >= 9 * len(tools)


def _arguments(
    view: ToolView, tool: Tool, language: Language, rng: Random
) -> dict[str, object] | None:
    names = [name for name in tool.properties if name in tool.required or rng.random() < 0.3]
    names = [name for name in names if rng.random() < 0.9]
    try:
        return fill_in(
            names, in_context(view.properties, view.name, view.description), language, rng, {}
        )
    except ReplyError:
        return None


def test_no_sentence_is_left_over() -> None:
    for language in {language for _, language in PLACES}:
        known = {
            tool.name
            for place, tools in categories().items()
            if place[1] == language
            for tool in tools
        }
        assert all_sentences(language).keys() - {tool.name for tool in of_documents()} == known


@cache
def of_documents() -> tuple[Tool, ...]:
    """The tools of goals in several steps: of the travel environment, and of the documents
    beside the recipes.
    """
    places = (
        "generators/environments/travel/openapi",
        "recipes/documents/workshop",
        "recipes/documents/depot",
    )
    return tuple(tool for place in places for tool in read_openapi(TOP / f"{place}.yaml").tools)


@pytest.mark.parametrize("tool", of_documents(), ids=lambda tool: tool.name)
def test_the_tools_of_worlds_have_sentences_for_any_of_their_values(tool: Tool) -> None:
    found, names, rng = all_sentences("en")[tool.name], sorted(tool.properties), Random(0)
    assert len(found.requests) > 1
    assert found.requests[0].is_bare
    for some in [
        *([one] for one in names),
        names,
        *(rng.sample(names, rng.randint(0, len(names))) for _ in range(20)),
    ]:
        said = frozenset(some) & found.requests[0].slots
        assert found.requests[0].draw(said, rng) is not None, said
    assert {*tool.properties} - found.requests[0].slots <= {"page"}  # nobody says a page
    assert all(one.slots <= {*names, "fields_"} for one in (*found.requests, *found.facts))
