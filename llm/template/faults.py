"""What is said where something goes wrong and under policies, out of a language's own sentences."""

from collections.abc import Mapping
from random import Random
from typing import Any

from pydantic import JsonValue

from callwright.language.packs import of
from callwright.llm.template.sections import Sections
from callwright.warehouse.records import Language


def word_fault(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a fault asks for."""
    field, entry = _plain(str(sections.json("field"))), sections.json("entry")
    return _worded(
        sections, of(language).data["faults"], rng, field=field, entry=entry, reason=_reason(sections.json("told"))
    )


def word_policy(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose of a policy asks for."""
    return _worded(sections, of(language).data["policies"], rng, policy=sections.json("policy"))


def _worded(sections: Sections, words: Mapping[str, Any], rng: Random, **values: JsonValue) -> dict[str, JsonValue]:
    tool = sections.json("tool")
    arguments = words["and"].join(f"{_plain(name)} {value}" for name, value in sections.object("arguments").items())
    called = _plain(str(tool.get("name", ""))) if isinstance(tool, dict) else ""
    deed = words["deed"].format(tool=called, arguments=arguments)
    return {"text": rng.choice(words[str(sections.json("purpose"))]).format(deed=deed, **values)}


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _reason(told: JsonValue) -> str:
    """The sentence in the body of an error."""
    while isinstance(told, dict):
        told = told.get("message", next(iter(told.values()), ""))
    return str(told)
