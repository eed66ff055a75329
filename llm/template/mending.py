"""Mending a request that lacks details: a sentence more for each of them."""

from random import Random

from pydantic import JsonValue

from language.names import split_name
from language.values import locate, write_value
from llm.template.sections import Sections
from warehouse.errors import ReplyError
from warehouse.records import JsonSchema, Language

_SENTENCES = {
    "en": (" The {name} should be {value}.", " As for the {name}: {value}.", " For the {name}, please take {value}."),
    "zh": ("{name}要{value}。", "{name}是{value}。", "另外，{name}：{value}。"),
}


def mend_request(sections: Sections, language: Language, rng: Random) -> dict[str, JsonValue]:
    """The request with every detail of <missing> said at its end."""
    request, missing = sections.json("request"), sections.json("missing")
    if not isinstance(request, str) or not isinstance(missing, list):
        raise ReplyError("template/v1 expects a text in <request> and a list of details in <missing>.")
    added = "".join(_sentence(detail, language, rng) for detail in missing if isinstance(detail, dict))
    return {"request": request.rstrip() + added}


def _sentence(detail: dict[str, JsonValue], language: Language, rng: Random) -> str:
    value, name = detail.get("value"), " ".join(split_name(str(detail.get("parameter", ""))))
    schema = detail.get("schema")
    shape: JsonSchema = schema if isinstance(schema, dict) else {}
    pattern = rng.choice(_SENTENCES[language])
    said = pattern.format(name=name, value=write_value(value, shape, language, rng))
    # the very letters of the value where no wording of it can be read back
    return said if locate(value, shape, said) else pattern.format(name=name, value=value)
