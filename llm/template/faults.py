"""What is said where something goes wrong, out of a language's own sentences."""

from random import Random

from pydantic import JsonValue

from callwright.language.packs import of
from callwright.llm.template.sections import Sections
from callwright.warehouse.records import Language


def word_fault(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The text that the purpose shown asks for."""
    words = of(language).data["faults"]
    tool, told = sections.json("tool"), sections.json("told")
    arguments = words["and"].join(f"{_plain(name)} {value}" for name, value in sections.object("arguments").items())
    called = _plain(str(tool.get("name", ""))) if isinstance(tool, dict) else ""
    return {
        "text": rng.choice(words[str(sections.json("purpose"))]).format(
            deed=words["deed"].format(tool=called, arguments=arguments),
            field=_plain(str(sections.json("field"))),
            entry=sections.json("entry"),
            reason=_reason(told),
        )
    }


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _reason(told: JsonValue) -> str:
    """The sentence in the body of an error."""
    while isinstance(told, dict):
        told = told.get("message", next(iter(told.values()), ""))
    return str(told)
