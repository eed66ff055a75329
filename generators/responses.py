"""Looking through a response: every value in it with its path."""

from collections.abc import Iterator

from pydantic import JsonValue


def walk(value: JsonValue, path: str) -> Iterator[tuple[str, JsonValue]]:
    """The value and all inside it, each behind its path: "result.hotels[2].price"."""
    yield path, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from walk(member, f"{path}.{name}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from walk(member, f"{path}[{index}]")
