"""Asking candidate models for the calls due at each snapshot, by one of STRATEGIES.

Three of them are CallNavi's. A reply's native calls are taken, else those in the notation asked
for, else those in any other.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import orjson

from callwright.flows.evaluation.tool_changes import AS_THEY_ARE, ShownTools
from callwright.generators.kinds import traits_of
from callwright.generators.tools import in_a_line
from callwright.generators.transcripts import chat_messages, conversation_text
from callwright.language.schemas import json_type
from callwright.llm.function_model import FunctionModel
from callwright.llm.prompts import led_by, prompt_version, render
from callwright.llm.written_calls import (
    LONGEST,
    TRACE_OF_A_CALL,
    ParsedReply,
    ReplyCall,
    calls_in,
    parse_lenient,
    unreadable,
)
from callwright.validators.judges import PROMPTS
from callwright.validators.metrics.callnavi.answers import NAMES as API
from callwright.validators.metrics.callnavi.answers import (
    TOOLS_MARK,
    WITHOUT_NOTATION,
    Notation,
    YamlReply,
    join_replies,
    read_value,
)
from callwright.validators.metrics.ratios import CandidateRun
from callwright.warehouse.errors import ConfigurationError, ReplyError
from callwright.warehouse.records import (
    TIME_SENTENCE,
    Call,
    Prediction,
    ReplyTurn,
    Sample,
    Snapshot,
    Tool,
    ToolsShown,
)
from callwright.warehouse.wire_names import WireNames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from callwright.generators.families import Asked
    from callwright.generators.stages import StageContext
    from callwright.llm.chat import ChatMessage, ChatModel, Completion, Prompt
    from callwright.warehouse.records import Turn

    ShownTool = dict[str, JsonValue]


MOST_ROUNDS = 5  # so often CallNavi asks what comes before
MOST_CALLS = 64  # who plans more than this before a call plans without end
MOST_NATIVE = 128  # so many tools providers take with a request
ONE_CALL = "answer_as_candidate"
CALLS = "answer_with_calls"
NATIVE = "answer_natively"
NAMES = "name_needed_tools"
LAST = "call_last"
BEFORE = "calls_before"
IN_MESSAGES = "messages"  # how Python functions are asked
_WORD = re.compile(r"[^\s\"'`,\[\]{}()]+")


class PromptingStrategy(NamedTuple):
    """A strategy, a notation for tools and answers, and the model that chooses the tools.

    `router` is "" if the candidate chooses. `user` is the model that words a simulated user's
    turns in live conversations, `tools` the names of changed tools; "" if there are none.
    """

    strategy: str = "direct"
    format: Notation = "json"
    router: str = ""
    user: str = ""
    tools: str = ""

    @property
    def label(self) -> str:
        """The key of answers and scores: "direct", "backward/yaml", "route_then_fill(x/y)".

        Live runs add the user's model: "direct/live(x/y)".
        """
        routed = f"({self.router})" if self.router else ""
        notation = "" if self.format == "json" else f"/{self.format}"
        live = f"/live({self.user})" if self.user else ""
        return f"{self.strategy}{routed}{notation}{live}" + (
            f"{TOOLS_MARK}{self.tools})" if self.tools else ""
        )


USUAL = PromptingStrategy()


class Question(NamedTuple):
    """What a candidate is asked at a snapshot; `number` tells runs apart.

    `briefing` is what it is told first. The `conversation` is the text of the `turns`.
    """

    tools: Sequence[Tool]
    conversation: str
    setting: Asked = "call"
    number: int = 0
    briefing: str = ""
    turns: Sequence[Turn] = ()

    @property
    def shown(self) -> list[ShownTool]:
        """The tools as a prompt shows them; for plans with what they return, to feed arguments."""
        has_returns = self.setting == "plan"
        return [
            tool.signature
            | ({"returns": tool.returns} if has_returns and tool.returns is not None else {})
            for tool in self.tools
        ]

    @property
    def outlined(self) -> list[ShownTool]:
        """The tools in a line each, to choose among: names, types, the first line of what it does.

        For plans, also the names of what they return.
        """
        return [_outline(tool, has_returns=self.setting == "plan") for tool in self.tools]


def _outline(tool: Tool, *, has_returns: bool) -> ShownTool:
    properties: dict[str, JsonValue] = {
        name: {"type": json_type(schema)} for name, schema in tool.properties.items()
    }
    line: ShownTool = {
        "name": tool.name,
        "description": in_a_line(tool.description),
        "parameters": {"properties": properties, "required": [*tool.required]},
    }
    returned = (tool.returns or {}).get("properties") if has_returns else None
    return line | ({"returns": {"properties": {key: {} for key in returned}}} if returned else {})


class Reply(NamedTuple):
    """A candidate's reply: the text of all replies, its calls, and the thoughts before them.

    `reasoning` is kept only if there was a single reply.
    """

    text: str
    parsed: ParsedReply
    reasoning: str = ""


class Models(NamedTuple):
    """The candidate, and the model that chooses its tools, or None if it chooses them itself."""

    candidate: ChatModel
    router: ChatModel | None = None

    @property
    def namer(self) -> ChatModel:
        """The model that names the tools that are needed."""
        return self.router or self.candidate


async def predict(  # noqa: PLR0913 - a candidate may be asked in many ways
    sample: Sample,
    context: StageContext,
    *,
    run: CandidateRun,
    settings: str = "",
    prompting: PromptingStrategy = USUAL,
    router: ChatModel | None = None,
    shown: ShownTools = AS_THEY_ARE,
) -> list[Prediction]:
    """Return the candidate's reply at each snapshot; several runs answer the same prompt.

    Each is requested separately, after what came before it in the sample: the candidate does not
    see its earlier replies, nor gold calls except those that were carried out. In conversations
    it is also asked where the assistant speaks. `settings` is stored with the predictions. It
    sees the tools as they are `shown`; its calls are stored with the tools' own names.
    """
    setting = traits_of(sample.kind).asked
    candidates = shown.toolset(context.toolset(sample.candidates))
    seen = shown.sample(sample)
    models = Models(context.chat, router)
    predictions = []
    for number, snapshot in enumerate(asked_at(seen)):
        only = narrows_to(seen, number, run.tools_shown)
        tools = [tool for tool in candidates if not only or tool.name == only]
        said = conversation_text(snapshot.prefix)
        question = Question(tools, said, setting, run.run, sample.briefing, snapshot.prefix)
        try:
            reply = await ask_candidate(question, models, prompting)
        # a mistake of the candidate, or of its provider: it counts against it
        except ReplyError as error:
            reply = Reply("", unreadable(str(error)))
        parsed = _storable_calls(reply.parsed)
        read = [shown.read(str(call.tool), call.arguments) for call in parsed.calls or ()]
        calls = tuple(Call(tool=call.tool, arguments=call.arguments) for call in read)
        predictions.append(
            Prediction(
                **run._asdict(),
                subject=sample.key,
                turn=snapshot.turn,
                text=storable(reply.text),
                calls=None if parsed.calls is None else calls,
                problem=storable(parsed.problem),
                reasoning=storable(reply.reasoning),
                settings=settings,
            )
        )
    return predictions


def asked_at(sample: Sample) -> Iterator[Snapshot]:
    """Yield where a candidate is asked: at due calls, and at replies in conversations."""
    if traits_of(sample.kind).asked != "conversation":
        yield from sample.snapshots()
        return
    for index, turn in enumerate(sample.turns):
        if turn.kind == "calls":
            yield Snapshot(index, sample.turns[:index], turn.calls)
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield Snapshot(index, sample.turns[:index], ())


def parse_completion(completion: Completion) -> ParsedReply:
    """Return the calls of a reply: native calls if the provider has any, else those in its text."""
    if completion.calls:
        parsed = ParsedReply(
            tuple(ReplyCall(call.tool, call.arguments) for call in completion.calls)
        )
    elif completion.calls is not None and not completion.text.strip():
        parsed = ParsedReply(())
    else:
        parsed = parse_lenient(completion.text)
    return _by_own_names(parsed, completion.names)


def parse_calls(completion: Completion, notation: Notation) -> ParsedReply:
    """Return the calls of a reply: native, in the requested notation, or in any other."""
    if completion.calls or notation == "json":
        return parse_completion(completion)
    parsed = parse_yaml_calls(completion.text)
    if not parsed.calls:
        other = parse_lenient(completion.text)
        parsed = other if other.calls else parsed
    return _by_own_names(parsed, completion.names)


def _by_own_names(parsed: ParsedReply, names: WireNames) -> ParsedReply:
    """Return a reply with the own names for those on the wire; unknown names stay."""
    if not names or not parsed.calls:
        return parsed
    return parsed._replace(calls=tuple(_by_own_name(call, names) for call in parsed.calls))


def _by_own_name(call: ReplyCall, names: WireNames) -> ReplyCall:
    if not isinstance(call.tool, str):
        return call
    tool, given = names.own_tool(call.tool), call.arguments
    if isinstance(given, dict):
        given = names.own_arguments(tool, given)
    return ReplyCall(tool, given)


def read_names(text: str, known: Collection[str], notation: Notation) -> list[str]:
    """Return the tools that a reply names, in order: its list, or else known names in it."""
    value = read_value(text, notation)
    if isinstance(value, dict):
        value = value.get(API, value.get("tools", value.get("names")))
    if isinstance(value, list):
        named = (member.get("name") if isinstance(member, dict) else member for member in value)
        return [name for name in named if isinstance(name, str) and name]
    return [word for found in _WORD.finditer(text) if (word := found[0].rstrip(".:;")) in known]


def parse_yaml_calls(text: str) -> ParsedReply:
    """Return a YAML reply's calls, in order; a call that breaks off makes it unreadable."""
    if not text.strip():
        return unreadable("The reply is empty.")
    reply = YamlReply(text)
    if reply.problem:
        if TRACE_OF_A_CALL.search(text) or len(text) > LONGEST:
            return unreadable(reply.problem)
        return ParsedReply(())
    calls = calls_in(reply.value)
    nameless = [call for call in calls if not isinstance(call.tool, str) or not call.tool.strip()]
    if nameless:
        return unreadable(f"The reply calls {nameless[0].tool!r}, which is no tool's name.")
    if not calls and reply.has_structure and TRACE_OF_A_CALL.search(text):
        return unreadable("The reply's YAML names a call, but not in the form that was asked for.")
    return ParsedReply(tuple(calls))


def _storable_calls(parsed: ParsedReply) -> ParsedReply:
    """Return the reply as read, or unreadable if a call has no name or an unstorable value."""
    for call in parsed.calls or ():
        if not isinstance(call.tool, str) or not call.tool:
            return unreadable(f"The reply calls {call.tool!r}, which is no tool's name.")
        try:
            orjson.dumps([call.tool, call.arguments])
        except TypeError as error:
            return unreadable(f"The reply has a value that can't be kept: {error}.")
    return parsed


def storable(text: str) -> str:
    """Return the text without lone surrogates (broken emoji), which no database accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def ask_candidate(question: Question, models: Models, prompting: PromptingStrategy) -> Reply:
    """The candidate's answer by a strategy.

    Raises ReplyError where a model answers unusably.
    """
    return await STRATEGIES[prompting.strategy].ask(question, models, prompting)


async def _ask_at_once(question: Question, models: Models, prompting: PromptingStrategy) -> Reply:
    chat = models.candidate
    if question.setting == "call" and prompting.format == "json":
        prompt = render(PROMPTS, ONE_CALL, tools=question.shown, conversation=question.conversation)
        completion = await chat.complete(
            led_by(question.briefing, prompt), sample_index=question.number
        )
        return Reply(completion.text, parse_completion(completion), completion.reasoning)
    completion = await chat.complete(
        _prompt(CALLS, question, prompting.format), sample_index=question.number
    )
    return Reply(completion.text, parse_calls(completion, prompting.format), completion.reasoning)


async def _ask_natively(question: Question, models: Models, prompting: PromptingStrategy) -> Reply:
    """Ask by native calls; of too many tools only those that the candidate names first."""
    if len(question.tools) > MOST_NATIVE:
        named = await name_tools(question, models.namer, prompting.format)
        question = question._replace(
            tools=[tool for tool in question.tools if tool.name in named.names][:MOST_NATIVE]
        )
    tools = [  # what a native one returns has no place but its description
        (
            tool.with_changes(
                description=f"{tool.description}\nReturns: {orjson.dumps(tool.returns).decode()}"
            )
            if question.setting == "plan" and tool.returns is not None
            else tool
        )
        for tool in question.tools
    ]
    prompt = _native_prompt(question)
    completion = await models.candidate.complete(prompt, tools, sample_index=question.number)
    return Reply(completion.text, parse_calls(completion, prompting.format), completion.reasoning)


def _native_prompt(question: Question) -> Prompt:
    """Return the conversation as messages, behind a system message that says what is due."""
    said = [*chat_messages(question.turns)]
    request = next((one.content for one in said if one.role == "user"), "")
    prompt = render(
        PROMPTS,
        NATIVE,
        setting=question.setting,
        conversation=question.conversation,
        request=request,
    )
    return as_chat(led_by(question.briefing, prompt), said)


def as_chat(prompt: Prompt, said: Sequence[ChatMessage]) -> Prompt:
    """Return a prompt's system message with a conversation's own messages behind it."""
    return prompt.with_changes(messages=(prompt.messages[0], *said))


async def _route_then_fill(
    question: Question, models: Models, prompting: PromptingStrategy
) -> Reply:
    """Let the router name tools, then show only these to the filler.

    If it names none, nothing is called. A tool that no candidate has is not shown; if only such
    are named, they are the calls.
    """
    named = await name_tools(question, models.namer, prompting.format)
    if not named.names and question.setting == "conversation":  # then the candidate speaks
        return await _ask_at_once(question._replace(tools=[]), models, prompting)
    tools = [tool for tool in question.tools if tool.name in named.names]
    if not tools:
        return Reply(named.text, ParsedReply(tuple(ReplyCall(name, {}) for name in named.names)))
    return await _ask_at_once(question._replace(tools=tools), models, prompting)


async def _ask_in_messages(
    question: Question, models: Models, prompting: PromptingStrategy
) -> Reply:
    """Ask a function, which takes any number of tools."""
    require_function(models.candidate)
    completion = await models.candidate.complete(_native_prompt(question), question.tools)
    return Reply(completion.text, parse_completion(completion))


def require_function(chat: ChatModel) -> None:
    """Raise ConfigurationError for a model where a Python function is asked."""
    if not isinstance(chat, FunctionModel):
        problem = f"The strategy {IN_MESSAGES!r} is for Python functions, not for {chat.name}."
        raise ConfigurationError(problem)


class NamedTools(NamedTuple):
    """The tools that a model considers necessary, and the reply that names them."""

    names: Sequence[str]
    text: str


async def name_tools(question: Question, chat: ChatModel, notation: Notation) -> NamedTools:
    """Ask a model which of the tools are needed."""
    reply = await chat.complete(_prompt(NAMES, question, notation), sample_index=question.number)
    return NamedTools(
        read_names(reply.text, {tool.name for tool in question.tools}, notation), reply.text
    )


async def _think_backwards(
    question: Question, models: Models, prompting: PromptingStrategy
) -> Reply:
    """Ask for the last call, then for what must precede it, until nothing is missing.

    The gold is never shown.
    """
    chat, notation = models.candidate, prompting.format
    completion = await chat.complete(
        _prompt(LAST, question, notation), sample_index=question.number
    )
    texts, parsed = [completion.text], parse_calls(completion, notation)
    if not parsed.calls:
        return Reply(completion.text, parsed)
    plan = list(parsed.calls)
    for _ in range(MOST_ROUNDS):
        calls: list[JsonValue] = [{"name": call.tool, "arguments": call.arguments} for call in plan]
        prompt = _prompt(BEFORE, question, notation, calls=calls)
        completion = await chat.complete(prompt, sample_index=question.number)
        texts.append(completion.text)
        parsed = parse_calls(completion, notation)
        if parsed.calls is None:
            return Reply(join_replies(texts), parsed)
        new = [call for call in parsed.calls if call not in plan]
        if not new or len(plan) + len(new) > MOST_CALLS:
            break
        plan = new + plan
    return Reply(join_replies(texts), ParsedReply(tuple(plan)))


class Strategy(NamedTuple):
    """A way to ask for the calls that are due: how, by which prompts, and what distinguishes it.

    `has_router` says that another model may name the tools. One that is not `is_for_models` is for
    Python functions alone. It `asks` at least so often for one answer.
    """

    ask: Callable[[Question, Models, PromptingStrategy], Awaitable[Reply]]
    prompts: tuple[str, ...]
    has_router: bool = False
    is_for_models: bool = True
    asks: int = 1


STRATEGIES: Mapping[str, Strategy] = {
    "direct": Strategy(_ask_at_once, (ONE_CALL, CALLS)),
    "native": Strategy(_ask_natively, (NAMES, NATIVE)),
    "route_then_fill": Strategy(
        _route_then_fill, (NAMES, ONE_CALL, CALLS), has_router=True, asks=2
    ),
    "backward": Strategy(_think_backwards, (LAST, BEFORE), asks=2),
    IN_MESSAGES: Strategy(_ask_in_messages, (NATIVE,), is_for_models=False),
}


def prompting_by(strategy: str, notation: Notation = "json", router: str = "") -> PromptingStrategy:
    """Return the strategy of this name.

    Raises ConfigurationError if there is none, or if it takes no such notation or router.
    """
    chosen = STRATEGIES.get(strategy)
    if chosen is None or not chosen.is_for_models:
        known = ", ".join(name for name, one in STRATEGIES.items() if one.is_for_models)
        raise ConfigurationError(f"There is no strategy {strategy!r}; the strategies are {known}.")
    if router and not chosen.has_router:
        takes = ", ".join(name for name, one in STRATEGIES.items() if one.has_router)
        problem = f"--router names {router!r}, but only --strategy {takes} asks a router."
        raise ConfigurationError(problem)
    if notation != "json" and strategy in WITHOUT_NOTATION:
        raise ConfigurationError(
            f"The strategy {strategy!r} leaves the notation to the provider: leave out --format."
        )
    return PromptingStrategy(strategy, notation, router)


def prompts_seen() -> list[str]:
    """Return the versions of everything that candidates may be told and shown, by any strategy."""
    shown = dict.fromkeys(name for strategy in STRATEGIES.values() for name in strategy.prompts)
    return [TIME_SENTENCE, *(prompt_version(PROMPTS, name) for name in shown)]


def _prompt(
    template: str, question: Question, notation: Notation, **more: list[JsonValue]
) -> Prompt:
    tools, listing = question.outlined if template == NAMES else question.shown, ""
    if notation == "yaml":
        import yaml

        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        listing = str(yaml.dump(tools, Dumper=dumper, allow_unicode=True, sort_keys=False)).rstrip()
    prompt = render(
        PROMPTS,
        template,
        tools=tools,
        listing=listing,
        format=notation,
        setting=question.setting,
        conversation=question.conversation,
        **more,
    )
    return led_by(question.briefing, prompt)


def narrows_to(sample: Sample, number: int, tools_shown: ToolsShown) -> str:
    """Return the only tool shown at the snapshot `number`, or "" if all candidates are shown.

    In the paper's runs every later snapshot shows only the conversation's tool, even after an
    intent shift: the model must then say that its one tool does not fit. Other conversations
    always show all candidates.
    """
    turns = [turn for turn in sample.turns if turn.kind == "calls"]
    tools = {call.tool for turn in turns for call in turn.calls}
    # as HammerBench's are: about calls of one tool, none of which is carried out
    has_one_tool = len(tools) == 1 and not any(turn.executed for turn in turns)
    return tools.pop() if tools_shown != "always" and number and has_one_tool else ""
