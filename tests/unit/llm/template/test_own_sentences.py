"""Sentences of a recipe's own: the template model words and reads by them, each model by its
own.
"""

import json
from typing import Any

import pytest

from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.language.calls.tools import view_of
from callwright.llm.chat import ChatMessage, ChatRequest
from callwright.llm.template.model import TemplateModel
from callwright.llm.template.sentences import own_sentences, sentences_of
from callwright.llm.tool_sentences import SentenceFile
from callwright.warehouse.errors import ConfigurationError


def tool(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string", "description": f"the {name}"} for name in names}
    return {
        "name": "find",
        "description": "Find it",
        "parameters": {"type": "object", "properties": properties},
    }


def file(text: str, language: str = "en", **parameters: Any) -> SentenceFile:
    return SentenceFile(file="x.yaml", language=language, text=text, parameters=parameters)


MEMBER = file('find:\n  requests: ["look up [the member {surname}]", "Who is {surname}?"]\n')
GUEST = file('find:\n  requests: ["check on [guest {surname}]"]\n')
HOUSE = file('find:\n  requests: ["show me the house [in {street}] [of {surname}]"]\n')


async def asked(model: TemplateModel, task: str, tags: dict[str, object]) -> dict[str, Any]:
    text = "\n".join(
        f"<{tag}>{one if isinstance(one, str) else json.dumps(one)}</{tag}>"
        for tag, one in tags.items()
    )
    messages = (
        ChatMessage(role="system", content="Answer."),
        ChatMessage(role="user", content=text),
    )
    reply = await model.send(ChatRequest("template/v1", messages, {"title": task}, (), (), 0))
    answer: dict[str, Any] = json.loads(reply.text)
    return answer


async def worded(
    sentences: tuple[SentenceFile, ...], language: str = "en", **arguments: str
) -> str:
    slots = [{"slot": name, "spots": [{"call": 0, "parameter": name}]} for name in arguments]
    shown = {
        "language": language,
        "calls": [{"tool": tool(*arguments), "slots": slots, "found": []}],
    }
    reply = await asked(TemplateModel(sentences=sentences), "SlottedRequest", shown)
    request = str(reply["request"])
    for name, value in arguments.items():
        request = request.replace(f"[{name}]", value)
    return request


async def test_each_model_words_by_its_own_sentences() -> None:
    assert "guest Miller" in await worded((GUEST,), surname="Miller")
    assert "guest" not in await worded((MEMBER,), surname="Miller")
    plain = await worded((), surname="Miller")
    assert "member" not in plain
    assert "guest" not in plain


async def test_two_tools_of_one_name_are_told_apart_by_their_parameters() -> None:
    both = (MEMBER, HOUSE)
    assert "house" not in await worded(both, surname="Miller")
    assert "house" in await worded(both, street="Hill Road", surname="Miller")


def test_ones_own_sentences_come_before_those_of_the_seed_catalog() -> None:
    shipped = next(
        one
        for one in seed_tools()
        if one.name == "Music.Playback.identifySong" and one.language == "en"
    )
    view, slots = (
        view_of(shipped.signature),
        " ".join(f"[{name} {{{name}}}]" for name in shipped.properties),
    )
    with own_sentences((file(f'{shipped.name}:\n  requests: ["name that tune {slots}"]\n'),)):
        found = sentences_of(view, "en")
    assert found is not None
    assert found.requests[0].text.startswith("name that tune")
    assert sentences_of(view, "en") != found


@pytest.mark.parametrize(
    "text", ["[", "- a", "find: 3", "find: {requests: ['[']}", "find: {requests: []}"]
)
async def test_a_file_that_was_not_checked_is_a_mistake_of_the_recipe(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"The sentences in x\.yaml can't be read"):
        await worded((file(text),), surname="Miller")
