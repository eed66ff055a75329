"""A tool in each language, requests that lack something, and contexts: what the tests of
dialogues start from.
"""

from typing import Any

from callwright.generators.stages import StageContext
from callwright.llm.asking import parse_answer
from callwright.llm.chat import Answer, ChatRequest, Completion, Prompt
from callwright.llm.template.model import TemplateModel
from callwright.testing import ScriptedModel, context_of
from callwright.warehouse.records import (
    NO_FACTS,
    Arguments,
    CallTurn,
    Derivation,
    Evidence,
    GoldCall,
    Language,
    ReplyTurn,
    Sample,
    SampleFacts,
    Slot,
    SlotPlan,
    Tool,
    Transform,
    UserTurn,
)

CLOCK = r"^([01]\d|2[0-3]):[0-5]\d$"


def _tool(name: str, description: str, language: Language, properties: dict[str, Any]) -> Tool:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name != "note"],
    }
    return Tool(
        name=name, description=description, parameters=schema, category="Dining", language=language
    )


TABLE = _tool(
    "Dining.Tables.bookTable",
    "Book a table at a restaurant.",
    "en",
    {
        "restaurant": {
            "type": "string",
            "description": "restaurant",
            "examples": ["Blue Door", "The Olive Tree", "Pier Nine"],
        },
        "date": {"type": "string", "format": "date", "description": "day of the visit"},
        "time": {"type": "string", "pattern": CLOCK, "description": "time of arrival"},
        "guests": {
            "type": "integer",
            "minimum": 1,
            "maximum": 12,
            "description": "number of guests",
        },
        "seating": {
            "type": "string",
            "enum": ["window", "terrace", "bar"],
            "description": "seating area",
        },
        "note": {
            "type": "string",
            "description": "note",
            "examples": ["a quiet corner", "a cake at the end"],
        },
    },
)
ZH_TABLE = _tool(
    "Dining.Tables.bookTable",
    "预订餐厅座位。",
    "zh",
    {
        "restaurant": {
            "type": "string",
            "description": "餐厅名称",
            "examples": ["老街小馆", "柠檬树餐厅", "江南小厨"],
        },
        "date": {"type": "string", "format": "date", "description": "用餐日期"},
        "time": {"type": "string", "pattern": CLOCK, "description": "用餐时间"},
        "guests": {"type": "integer", "minimum": 1, "maximum": 12, "description": "用餐人数"},
        "seating": {"type": "string", "enum": ["靠窗", "露台", "吧台"], "description": "座位区域"},
        "note": {
            "type": "string",
            "description": "备注",
            "examples": ["要安静的角落", "最后上蛋糕"],
        },
    },
)
TOOLS = {tool.key: tool for tool in (TABLE, ZH_TABLE)}
VALUES: Arguments = {"date": "2027-03-05", "time": "19:30", "guests": 4, "seating": "terrace"}
ANSWERS = {
    "date": ("On which day?", "The day of the visit is March 5, 2027.", "March 5, 2027"),
    "time": ("At what time?", "Half past seven in the evening", "Half past seven in the evening"),
    "guests": ("Sure. How many guests?", "Sure, the number of guests is four.", "four"),
    "seating": ("Which seating area would you like?", "terrace, please.", "terrace"),
}


class RecordingTemplateChat:
    """The template model as a chat without a ledger; it keeps the prompts in `asked`."""

    name = "template/v1"

    def __init__(self, *, seed: int = 0) -> None:
        self._model = TemplateModel(seed=seed)
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        self.asked.append(prompt)
        request = ChatRequest(
            self.name,
            prompt.messages,
            answer.model_json_schema(),
            (),
            (),
            sample_index,
            prompt.marks,
        )
        return parse_answer((await self._model.send(request)).text, answer)

    async def complete(
        self, prompt: Prompt, tools: Any = (), *, sample_index: int = 0
    ) -> Completion:
        raise AssertionError(f"Nobody asks {prompt.name} in free text here.")


def context(chat: ScriptedModel | RecordingTemplateChat | None = None) -> StageContext:
    return context_of(TOOLS, chat)


def imperfect(language: Language = "en", **known: Any) -> Sample:
    """A request that gives the restaurant, and `known`, whose values it says in as many words."""
    tool = TABLE if language == "en" else ZH_TABLE
    name = "Blue Door" if language == "en" else "老街小馆"
    text = f"Book a table at {name}" if language == "en" else f"帮我预订餐厅座位，餐厅名称是{name}"
    text += "".join(f", {parameter} {value}" for parameter, value in known.items())
    start = text.index(name)
    proof = Evidence(
        argument="restaurant", kind="span", turn=0, start=start, end=start + len(name), quote=name
    )
    call = GoldCall(tool=tool.name, arguments={"restaurant": name, **known}, evidence=(proof,))
    return Sample(
        kind="imperfect",
        language=language,
        category="Dining",
        candidates=(tool.key,),
        turns=(UserTurn(text=text), CallTurn(calls=(call,))),
        facts=SampleFacts(labels=("id:7",)),
    )


def derivation(source: Sample, transform: Transform = "sQsA", seed: int = 5) -> Derivation:
    return Derivation(transform=transform, source=source, seed=seed)


def plan(*parameters: str, seed: int = 5) -> SlotPlan:
    slots = tuple(Slot(parameter=name, value=VALUES[name]) for name in parameters)
    return SlotPlan(derivation=derivation(imperfect(), seed=seed), slots=slots)


def dialogue(*parameters: str) -> Sample:
    """A dialogue that asks for these parameters one by one, in English; two of its answers do
    not say what they are about.
    """
    source = imperfect()
    call = source.gold[0]
    turns = list(source.turns)
    for name in parameters:
        question, answer, words = ANSWERS[name]
        start = answer.index(words)
        proof = Evidence(
            argument=name,
            kind="span",
            turn=len(turns) + 1,
            start=start,
            end=start + len(words),
            quote=words,
        )
        call = GoldCall(
            tool=call.tool,
            arguments={**call.arguments, name: VALUES[name]},
            evidence=(*call.evidence, proof),
        )
        turns += [ReplyTurn(text=question), UserTurn(text=answer), CallTurn(calls=(call,))]
    return source.with_changes(kind="sQsA", turns=tuple(turns), facts=NO_FACTS)
