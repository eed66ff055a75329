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
_MARK = re.compile(r"^\[(\w+)(?:: ([^]]*))?\]: ", re.MULTILINE)
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

SOUNDS = {
    "wording_reason": "Plain.",
    "wording": 5,
    "values_reason": "Usual.",
    "values": 5,
    "broken": [],
}


class WordingModel:
    """Answers as a ModelServer's behaviour, in the shapes of a language; where it `slips` its
    first wording is English.
    """

    def __init__(
        self, shapes: tuple[tuple[str, ...], str] = FRENCH, *, slips: bool = False
    ) -> None:
        self.slips = slips
        self._shapes, self._detail = shapes
        self._calls: dict[tuple[str, re.Pattern[str]], list[str]] = {}  # by task and its wording
        self._answers: list[re.Pattern[str]] = []

    def __call__(self, asked: ServedRequest) -> str | None:
        messages, title = orjson.loads(asked.question)
        shown = "\n".join(message["content"] for message in messages)
        given = dict(_TAG.findall(messages[-1]["content"]))
        match title:
            case "ArgumentValues":
                tool, names = orjson.loads(given["tool"]), orjson.loads(given["parameters"])
                drawn = fill_in(names, tool["parameters"]["properties"], "en", Random(shown))
                return _json({"values": drawn})
            case "SlottedRequest":
                return _json({"request": self._worded(*_asked(messages[-1]["content"]))})
            case "SlotQuestion":
                return _json(
                    {"question": "Quelle est la valeur que vous souhaitez donner pour ce point ?"}
                )
            case "SlotAnswer":
                [(name, words)] = _MARK.findall(messages[-1]["content"])
                shape = f"Pour ce point numéro {_lettered(len(self._answers))} je voudrais donc {{}}, merci."
                self._answers.append(re.compile(shape.format(f"(?P<{name}>.+?)")))
                return _json({"answer": shape.format(f"[{name}: {_answer(words)}]")})
            case _:
                return self._judged(title, shown)

    def _worded(self, marks: list[tuple[str, str]], task: str) -> str:
        if self.slips:
            self.slips = False
            return "Please take care of the following things for me today"
        number = len(self._calls)
        letters = _lettered(number)
        stated = ", ".join(
            self._detail.format(f"{letters}-{_lettered(at)}", f"[{name}: {_answer(words)}]")
            for at, (name, words) in enumerate(marks)
        )
        shape = self._shapes[number % len(self._shapes)]
        request = shape.format(values=stated or self._detail.format(letters, "?"))
        said = re.escape(re.sub(r"\[(\w+): [^]]*\]", r"<\1>", request))
        read = re.compile(re.sub(r"<(\w+)>", r"(?P<\1>.+?)", said))
        self._calls[task, read] = [name for name, _ in marks]
        return request

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
        tools = orjson.loads(dict(_TAG.findall(shown))["tools"])
        for task, read in self._calls:
            tool = next((one for one in tools if one["description"].startswith(task)), None)
            if tool is not None and (found := read.search(shown)):
                declared = tool["parameters"]["properties"]
                arguments = {
                    name: _value(words, declared[name]) for name, words in found.groupdict().items()
                }
                for answer in filter(None, (one.search(shown) for one in self._answers)):
                    for name, words in answer.groupdict().items():
                        arguments[name] = _value(words, declared[name])
                return {"tool": tool["name"], "arguments": arguments}
        return {"tool": None, "arguments": {}}


def _asked(shown: str) -> tuple[list[tuple[str, str]], str]:
    """The slots of a prompt with their words, and its task, in the line below who speaks."""
    return _MARK.findall(shown), shown.splitlines()[1]


def _lettered(number: int) -> str:
    """A number in letters, since a wording holds no digits of its own."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def _answer(words: str) -> str:
    return {"yes": "oui", "no": "non"}.get(words, words or "?")


def _value(words: str, schema: dict[str, Any]) -> Any:
    match schema.get("type"):
        case "integer":
            return int(words)
        case "number":
            return float(words)
        case "boolean":
            return words == "oui" or words.startswith("with ")
        case "array":
            return re.split(r", | and ", words)
        case _:
            return words


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()
