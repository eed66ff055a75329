"""Helpers for testing your own checks, kinds, worlds and models, with any test runner.

    TABLE = make_tool("book_table", people="integer")

    def test_a_request_without_please_is_doubted():
        sample = make_sample([TABLE], "A table for 4.", {"book_table": {"people": 4}})
        verdict = run_check(check, sample, [TABLE])
        assert (verdict.decision, verdict.doubts[0].kind) == ("unproved", "impolite")

Whatever does not hold raises an AssertionError that says why in a sentence.
"""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import cast

from callwright.generators.environments.protocol import CallResponse, Environment
from callwright.generators.families import Family
from callwright.generators.stages import StageContext
from callwright.generators.tools import argument_problems
from callwright.llm.chat import (
    Adapter,
    Answer,
    ChatMessage,
    ChatModel,
    ChatRequest,
    Completion,
    Prompt,
    RawReply,
)
from callwright.validators.checks.declaring import Check
from callwright.validators.checks.table import doubt_sentences
from callwright.warehouse.errors import CallwrightError, ReplyError
from callwright.warehouse.records import (
    Arguments,
    Call,
    CallTurn,
    Evidence,
    GoldCall,
    JsonSchema,
    Language,
    Record,
    Sample,
    Tool,
    Turn,
    UserTurn,
    Verdict,
)

# An instance of the reply class for `ask`, a str or Completion for `complete`, an error to raise.
Line = object
Tools = Mapping[str, Tool] | Iterable[Tool]
_CITY: JsonSchema = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


def _require(holds: object, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)


class ScriptedModel:
    """A model that answers each prompt, by its name, with the next line of its script.

    `asked` lists the prompts that it received.

    >>> chat = ScriptedModel({"judge_message": [MessageFit(reason="It is by Anna.", fits=True)]})
    """

    def __init__(self, script: Mapping[str, Sequence[Line]], *, name: str = "scripted") -> None:
        self._script = {prompt: list(lines) for prompt, lines in script.items()}
        self._name = name
        self.asked: list[Prompt] = []

    @property
    def name(self) -> str:
        """The name under which its answers are kept."""
        return self._name

    @property
    def left(self) -> dict[str, int]:
        """How many lines of each prompt are left; empty once the script is used up."""
        return {prompt: len(lines) for prompt, lines in self._script.items() if lines}

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        """Return the next line for the prompt, a reply of this class.

        Raises AssertionError if the line is of another class.
        """
        line = self._next(prompt)
        if not issubclass(answer, type(line)):  # what it asks for may be narrowed to a tool
            raise AssertionError(f"{prompt.name} wants {answer.__name__}, the script has {line!r}")
        return cast("Answer", line)

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        """Return the next line for the prompt: words, or words with calls.

        Raises AssertionError for any other line.
        """
        line = self._next(prompt)
        if isinstance(line, Completion):
            return line
        if not isinstance(line, str):
            raise AssertionError(
                f"{prompt.name} wants text or a Completion, the script has {line!r}"
            )
        return Completion(line, None)

    def _next(self, prompt: Prompt) -> Line:
        self.asked.append(prompt)
        lines = self._script.get(prompt.name)
        if not lines:
            raise AssertionError(f"The script has no line left for {prompt.name!r}.")
        line = lines.pop(0)
        if isinstance(line, CallwrightError):
            raise line
        return line


def make_tool(
    name: str,
    description: str = "",
    *,
    category: str = "Any",
    language: Language = "en",
    required: Iterable[str] = (),
    **parameters: str | JsonSchema | None,
) -> Tool:
    """Return a tool; each parameter is a type, a schema, or None for any text.

    >>> make_tool("book_table", people="integer", area={"enum": ["inside", "terrace"]})
    """
    schemas = {
        each: {"type": one} if isinstance(one, str) else one for each, one in parameters.items()
    }
    properties = {
        each: {"type": "string", "description": each, **(one or {})}
        for each, one in schemas.items()
    }
    schema: JsonSchema = {"type": "object", "properties": properties, "required": [*required]}
    return Tool(
        name=name, description=description, category=category, language=language, parameters=schema
    )


def make_sample(
    tools: Sequence[Tool],
    *turns: str | Mapping[str, Arguments] | Turn,
    kind: str = "perfect",
    language: Language = "en",
    withheld: Sequence[Tool] = (),
) -> Sample:
    """Make a sample from user texts, due calls (arguments by tool name), or whole turns.

    Argument values that are taken verbatim from the user get evidence. If the last turn is not a
    call turn, no call is due.

    >>> make_sample([TABLE], "A table for 4.", {"book_table": {"people": 4}})
    """
    sample_turns: list[Turn] = []
    for turn in turns:
        if isinstance(turn, str):
            sample_turns.append(UserTurn(text=turn))
        elif isinstance(turn, Mapping):
            calls = [
                GoldCall(tool=tool, arguments=given, evidence=tuple(_said(given, sample_turns)))
                for tool, given in turn.items()
            ]
            sample_turns.append(CallTurn(calls=tuple(calls)))
        else:
            sample_turns.append(turn)
    if not isinstance(sample_turns[-1], CallTurn):
        sample_turns.append(CallTurn())
    return Sample(
        kind=kind,
        language=language,
        category=tools[0].category,
        turns=tuple(sample_turns),
        candidates=tuple(tool.key for tool in tools),
        withheld=tuple(tool.key for tool in withheld),
    )


def _said(arguments: Arguments, before: Sequence[Turn]) -> Iterator[Evidence]:
    for name, value in arguments.items():
        quote = str(value)
        for at, turn in enumerate(before):
            if isinstance(turn, UserTurn) and quote in turn.text:
                start, end = turn.text.index(quote), turn.text.index(quote) + len(quote)
                yield Evidence(
                    argument=name, kind="span", turn=at, start=start, end=end, quote=quote
                )
                break


def context_of(
    tools: Tools,
    chat: ChatModel | None = None,
    *,
    seed: int = 1,
    environments: Iterable[Environment] = (),
) -> StageContext:
    """Return a stage's context: tools, the model of its role, a seeded generator, worlds."""
    by_key = dict(tools) if isinstance(tools, Mapping) else {tool.key: tool for tool in tools}
    worlds = {world.name: world for world in environments}
    return StageContext(chat or ScriptedModel({}), Random(seed), by_key, worlds)


def run_check(
    check: Check[Sample], sample: Sample, tools: Tools = (), chat: ChatModel | None = None
) -> Verdict:
    """Return a check's verdict on a sample with these tools.

    Raises AssertionError if the check does not apply to the sample, or has no sentence for one
    of its doubts.

    >>> run_check(check, make_sample([TABLE], "A table for 4."), [TABLE]).decision
    'unproved'
    """
    _require(check.applies(sample), f"The check {check.name!r} does not apply to this sample.")
    [verdict] = asyncio.run(check(sample, context_of(tools, chat)))
    known_doubts = check.doubts.keys() | doubt_sentences().keys()
    for doubt in verdict.doubts:
        lacking = (
            f"The check {check.name!r} has no sentence for the doubt {doubt.kind!r}: declare it in"
            " `doubts`."
        )
        _require(doubt.kind in known_doubts, lacking)
    return verdict


def run_stages(
    family: Family, record: Record, tools: Tools = (), chat: ChatModel | None = None
) -> list[Record]:
    """Run a record through the stages of a family of kinds, and return what they make of it.

    >>> run_stages(FAMILY, Derivation(...), [TABLE])[0].request
    'A table for 4. Thanks!'
    """
    context = context_of(tools, chat)

    async def made() -> list[Record]:
        records = [record]
        for stage in family.stages:
            if stage.function is not None:
                after = [
                    await stage.function(one, context) for one in records if stage.applies(one)
                ]
                records = [one for outputs in after for one in outputs]
                for one in records:
                    wanted = (
                        f"The stage {stage.name!r} gives {one!r}, and should give records of"
                        f" {stage.yields}."
                    )
                    _require(type(one).__name__ == stage.yields, wanted)
        return records

    return asyncio.run(made())


def ask_world(world: Environment, tool: str, **arguments: object) -> CallResponse:
    """Return a world's response to a call; asserts that it is repeatable and JSON.

    >>> ask_world(library, "find_books", title="Solaris").response
    [{'book_id': 'b2', 'title': 'Solaris', 'lent_to': ''}]
    """
    called_tool = next((one for one in world.tools if one.name == tool), None)
    if called_tool is None:
        known = ", ".join(one.name for one in world.tools)
        raise AssertionError(
            f"The world {world.name!r} has no tool {tool!r}; its tools are {known}."
        )
    call = Call.model_validate({"tool": tool, "arguments": arguments})
    problems = argument_problems(called_tool, call.arguments, partial=False)
    _require(not problems, f"The tool {tool!r} does not take these arguments: {' '.join(problems)}")

    async def twice() -> tuple[CallResponse, CallResponse]:
        return await world.answer(call), await world.answer(call)

    first, second = asyncio.run(twice())
    _require(
        isinstance(first, CallResponse),
        f"The world answers {first!r}, and should answer a CallResponse.",
    )
    _require(
        first == second, f"The same call of {tool!r} is answered {first!r}, and then {second!r}."
    )
    json.dumps(first.response)
    return first


def check_adapter(adapter: Adapter, model: str = "example/small", **options: object) -> RawReply:
    """Return an adapter's answer to a greeting, if the adapter keeps the protocol.

    Raises AssertionError if it does not: errors must be callwright's own, and an answer by
    schema must be JSON.

    >>> check_adapter(open_model(settings)).text
    'Hello there.'
    """
    said = (ChatMessage(role="user", content="Hello there."),)
    request = ChatRequest(model, said, None, (), tuple(sorted(options.items())), 0)

    async def asked() -> RawReply:
        reply = await adapter.send(request)
        is_reply = isinstance(reply, RawReply) and isinstance(reply.text, str)
        _require(
            is_reply, f"The adapter answers {reply!r}, and should answer a RawReply with text."
        )
        try:
            typed = await adapter.send(request._replace(schema=_CITY))
            json.loads(typed.text)
        except ReplyError:
            pass  # it says that it can't
        except ValueError as error:
            raise AssertionError(f"An answer by schema is no JSON: {error}") from error
        await adapter.close()
        return reply

    return asyncio.run(asked())
