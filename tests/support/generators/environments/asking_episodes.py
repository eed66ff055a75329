"""Asking an episode of a world, as its tests do."""

from typing import Any

from pydantic import JsonValue

from callwright.generators.environments.document_world import DocumentEpisode
from callwright.warehouse.records import Call


def ask(episode: DocumentEpisode, name: str, **arguments: JsonValue) -> Any:
    """The response to a call, which must not be refused."""
    found = episode.answer(Call(tool=name, arguments=arguments))
    assert not found.problem, found.problem
    return found.response


def refusal(episode: DocumentEpisode, name: str, **arguments: JsonValue) -> str:
    """The code by which a call is refused; it must leave the state as it is."""
    before = episode.snapshot()
    found = episode.answer(Call(tool=name, arguments=arguments))
    assert found.problem
    assert episode.state == before
    return found.error
