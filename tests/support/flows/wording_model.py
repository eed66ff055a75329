"""A model that words and reads other languages: behind the model server, it fills shapes and
reads its own words back.
"""

import re
from random import Random
from typing import Any

import orjson

from callwright.language.calls.sampling import fill_in
from tests.support.flows.model_server import ServedRequest

_TAG = re.compile(r"<(\w+)>(.*?)</\1>", re.DOTALL)
FRENCH = (
    (
        "Bonjour, occupe-toi de cela pour moi s'il te plaît : {values}.",
        "Je voudrais que tu fasses cela aujourd'hui : {values}, merci beaucoup.",
        "Peux-tu m'aider avec ceci ? Voici les détails : {values}.",
    ),
    "pour le point demandé numéro {} c'est {}",
)
CHINESE = (
    (
        "请帮我办一下这件事：{values}。",
        "麻烦你今天处理这个：{values}，谢谢。",
        "我想请你做这个，{values}。",
    ),
    "第{}项是{}",
)

SOUNDS = {"wording_reason": "Plain.", "wording": 5, "values_reason": "Usual.", "values": 5}


class WordingModel:
    """Answers as a ModelServer's behaviour, in the shapes of a language; where it `slips` its
    first wording is English.
    """

    def __init__(
        self, shapes: tuple[tuple[str, ...], str] = FRENCH, *, slips: bool = False
    ) -> None:
        self.slips = slips
        self._shapes, self._detail = shapes
        self._calls: dict[str, dict[str, Any]] = {}  # by what stands in the request
        self._answers: dict[str, dict[str, Any]] = {}

    def __call__(self, asked: ServedRequest) -> str | None:
        messages, title = orjson.loads(asked.question)
        shown = "\n".join(message["content"] for message in messages)
        given = dict(_TAG.findall(messages[-1]["content"]))
        match title:
            case "ArgumentValues" | "DraftedRequest":
                tool, names = orjson.loads(given["tool"]), orjson.loads(given["parameters"])
                drawn = fill_in(names, tool["parameters"]["properties"], "en", Random(shown))
                call = {"tool": given["tool"], "arguments": _json(drawn)}
                worded = self._worded(call) if title == "DraftedRequest" else {}
                return _json({"values": drawn, **worded})
            case "Wording":
                return _json(self._worded(given))
            case "SlotQuestion":
                return _json(
                    {"question": "Quelle est la valeur que vous souhaitez donner pour ce point ?"}
                )
            case "SlotAnswer":
                value = orjson.loads(given["value"])
                words = _worded(value)
                answer = f"Pour ce point je voudrais donc {words}, merci."
                self._answers[answer] = {given["parameter"].strip('"'): value}
                return _json({"answer": answer, "words": words})
            case _:
                return self._judged(title, shown)

    def _worded(self, given: dict[str, str]) -> dict[str, Any]:
        arguments, tool = orjson.loads(given["arguments"]), orjson.loads(given["tool"])
        if self.slips:
            self.slips = False
            return {
                "request": "Please take care of the following things for me today",
                "mentions": [],
            }
        words = {name: _worded(value) for name, value in arguments.items()}
        number = len(self._calls)
        stated = ", ".join(
            self._detail.format(f"{number}-{at}", text) for at, text in enumerate(words.values())
        )
        shape = self._shapes[number % len(self._shapes)]
        request = shape.format(values=stated or self._detail.format(number, "?"))
        self._calls[request] = {"tool": tool["name"], "arguments": arguments}
        return {
            "request": request,
            "mentions": [{"parameter": name, "words": text} for name, text in words.items()],
        }

    def _judged(self, title: str, shown: str) -> str | None:
        match title:
            case "WrittenCalls":
                call = self._read(shown)
                return _json(
                    {"calls": [call], "instead": None}
                    if call["tool"]
                    else {"calls": [], "instead": "none"}
                )
            case "ProposedCall":
                return _json(self._read(shown))
            case "NaturalReading":
                return _json(SOUNDS)
            case "Relevance":
                return _json({"tool": None, "reason": "No tool does."})
            case _:
                return None

    def _read(self, shown: str) -> dict[str, Any]:
        """The call that was worded so, where its tool is at hand."""
        found = (
            call
            for request, call in self._calls.items()
            if request in shown and f'"{call["tool"]}"' in shown
        )
        call = next(found, {"tool": None, "arguments": {}})
        stated = {
            name: value
            for answer, one in self._answers.items()
            if answer in shown
            for name, value in one.items()
        }
        return {**call, "arguments": {**call["arguments"], **(stated if call["tool"] else {})}}


def _worded(value: Any) -> str:
    if isinstance(value, bool):
        return "oui" if value else "non"
    return " et ".join(map(str, value)) if isinstance(value, list) else str(value)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
