"""Asking a candidate for the calls that are due: at once, tools before arguments, or from the goal backwards (CallNavi)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from llm.chat import ChatMessage
from llm.prompts import prompt_version, render
from validators.judges import PROMPTS
from validators.replies.parsing import ParsedReply, ReplyCall
from validators.replies.reading import Style, join_replies, parse_calls, parse_completion, read_names
from warehouse.records import Sample, ToolsShown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from generators.families import Asked
    from llm.chat import ChatModel, Completion, Prompt

    ShownTool = dict[str, JsonValue]


MOST_ROUNDS = 5  # so often CallNavi asks what comes before
MOST_CALLS = 64  # who plans more than this before a call plans without end
Strategy = Literal["direct", "route_then_fill", "backward"]
Format = Literal["json", "yaml"]
ONE_CALL = "answer_as_candidate"
CALLS = "answer_with_calls"
NAMES = "name_needed_tools"
LAST = "call_last"
BEFORE = "calls_before"
_TEMPLATES: dict[Strategy, tuple[str, ...]] = {
    "direct": (CALLS,),
    "route_then_fill": (NAMES, CALLS),
    "backward": (LAST, BEFORE),
}


class PromptingStrategy(NamedTuple):
    """A strategy, a notation for tools and answers, and the model that chooses the tools, "" where the candidate does."""

    strategy: Strategy = "direct"
    format: Format = "json"
    router: str = ""

    @property
    def label(self) -> str:
        """What predictions and scores are kept under: "direct", "backward/yaml", "route_then_fill(openai/x)"."""
        routed = f"({self.router})" if self.router else ""
        return f"{self.strategy}{routed}" + ("" if self.format == "json" else f"/{self.format}")

    @property
    def version(self) -> str:
        """The versions of all prompts that candidates may see."""
        return "+".join(prompt_version(PROMPTS, name) for name in (ONE_CALL, *_TEMPLATES[self.strategy]))


class Question(NamedTuple):
    """What a candidate is asked at a snapshot; `number` tells runs apart."""

    tools: Sequence[ShownTool]
    conversation: str
    setting: Asked = "call"
    number: int = 0
    system_message: str = ""


class Reply(NamedTuple):
    """What was replied, all replies that it took, and the calls in it."""

    text: str
    parsed: ParsedReply


class Models(NamedTuple):
    """The candidate, and who chooses the tools for it, None where it does so itself."""

    candidate: ChatModel
    router: ChatModel | None = None


async def ask_candidate(
    question: Question, models: Models, prompting: PromptingStrategy, style: Style = "lenient"
) -> Reply:
    """The candidate's answer by a strategy. `style` is that of direct answers in JSON, one call each.

    Raises ReplyError where a model answers unusably.
    """
    if prompting.strategy == "route_then_fill":
        return await _route_then_fill(question, models, prompting, style)
    if prompting.strategy == "backward":
        return await _think_backwards(question, models.candidate, prompting)
    return await _ask_at_once(question, models.candidate, prompting, style)


async def _ask_at_once(question: Question, chat: ChatModel, prompting: PromptingStrategy, style: Style) -> Reply:
    if question.setting == "call" and prompting.format == "json":
        prompt = render(PROMPTS, ONE_CALL, tools=question.tools, conversation=question.conversation)
        completion = await chat.complete(led_by(question.system_message, prompt), sample_index=question.number)
        return Reply(completion.text, parse_completion(completion, style))
    completion = await chat.complete(_prompt(CALLS, question, prompting), sample_index=question.number)
    return Reply(completion.text, parse_calls(completion, prompting.format))


async def _route_then_fill(question: Question, models: Models, prompting: PromptingStrategy, style: Style) -> Reply:
    """Who names no tool calls nothing; one that no candidate has is not shown to the filler, and calls of it alone stand."""
    router = models.router or models.candidate
    routed = await router.complete(_prompt(NAMES, question, prompting), sample_index=question.number)
    known = {str(tool["name"]) for tool in question.tools}
    named = read_names(routed.text, known, prompting.format)
    if not named and question.setting == "conversation":  # then the candidate speaks
        return await _ask_at_once(question._replace(tools=[]), models.candidate, prompting, style)
    if not known.intersection(named):
        return Reply(routed.text, ParsedReply(tuple(ReplyCall(name, {}) for name in named)))
    tools = [tool for tool in question.tools if tool["name"] in named]
    return await _ask_at_once(question._replace(tools=tools), models.candidate, prompting, style)


async def _think_backwards(question: Question, chat: ChatModel, prompting: PromptingStrategy) -> Reply:
    """The last call first, then what must come before it, until nothing is missing; the gold is never shown."""
    completion = await chat.complete(_prompt(LAST, question, prompting), sample_index=question.number)
    texts, parsed = [completion.text], parse_calls(completion, prompting.format)
    if not parsed.calls:
        return Reply(completion.text, parsed)
    plan = list(parsed.calls)
    for _ in range(MOST_ROUNDS):
        completion = await _ask_what_comes_before(question, plan, chat, prompting)
        texts.append(completion.text)
        parsed = parse_calls(completion, prompting.format)
        if parsed.calls is None:
            return Reply(join_replies(texts), parsed)
        new = [call for call in parsed.calls if call not in plan]
        if not new or len(plan) + len(new) > MOST_CALLS:
            break
        plan = new + plan
    return Reply(join_replies(texts), ParsedReply(tuple(plan)))


async def _ask_what_comes_before(
    question: Question, plan: Sequence[ReplyCall], chat: ChatModel, prompting: PromptingStrategy
) -> Completion:
    calls: list[JsonValue] = [{"name": call.tool, "arguments": call.arguments} for call in plan]
    return await chat.complete(_prompt(BEFORE, question, prompting, calls=calls), sample_index=question.number)


def _prompt(template: str, question: Question, prompting: PromptingStrategy, **more: list[JsonValue]) -> Prompt:
    listing = _as_yaml(question.tools) if prompting.format == "yaml" else ""
    prompt = render(
        PROMPTS, template, tools=question.tools, listing=listing, format=prompting.format, setting=question.setting,
        conversation=question.conversation, **more,
    )  # fmt: skip
    return led_by(question.system_message, prompt)


def led_by(system_message: str, prompt: Prompt) -> Prompt:
    """The prompt, before which the assistant is told what the sample's system message says."""
    if not system_message:
        return prompt
    first, *others = prompt.messages
    if first.role != "system":
        return prompt.with_changes(messages=(ChatMessage(role="system", content=system_message), *prompt.messages))
    return prompt.with_changes(messages=(first.with_changes(content=f"{system_message}\n\n{first.content}"), *others))


def _as_yaml(tools: Sequence[ShownTool]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(list(tools), Dumper=dumper, allow_unicode=True, sort_keys=False)).rstrip()


def format_of(label: str) -> Format:
    """The notation of answers that are kept under this label."""
    return "yaml" if label.endswith("/yaml") else "json"


def has_one_tool(sample: Sample) -> bool:
    """Whether a sample is a conversation as HammerBench's are: about calls of one tool, none of which is carried out."""
    turns = [turn for turn in sample.turns if turn.kind == "calls"]
    return not any(turn.executed for turn in turns) and len({call.tool for turn in turns for call in turn.calls}) == 1


def narrows_to(sample: Sample, number: int, tools_shown: ToolsShown) -> str:
    """The name of the one tool that is shown at the snapshot `number`, "" where all candidates are.

    In the paper's runs every later snapshot has the conversation's tool only, that of an intent shift too: the model is
    to say that the one tool it has does not fit. Other conversations always have all candidates.
    """
    if tools_shown == "always" or not number or not has_one_tool(sample):
        return ""
    return next(call.tool for turn in sample.turns if turn.kind == "calls" for call in turn.calls)
