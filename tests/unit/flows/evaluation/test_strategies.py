"""Strategies: whatever a candidate is asked, and by whom it is judged, the time at which a
conversation takes place is told.
"""

from collections.abc import Sequence
from random import Random

import pytest

from callwright.flows.evaluation.grading import grade_prediction, graded_metric, judge_prediction
from callwright.flows.evaluation.paths import PATH_STRATEGIES, PathRun, run_path
from callwright.flows.evaluation.predictions import (
    STRATEGIES,
    PromptingStrategy,
    predict,
    prompting_by,
)
from callwright.generators.kinds import all_kinds, traits_of
from callwright.generators.multi_step.correction import NextCalls
from callwright.generators.stages import StageContext
from callwright.llm.chat import Answer, ChatMessage, Completion, Prompt
from callwright.llm.function_model import FunctionModel, Messages
from callwright.llm.wire_format import wire_messages
from callwright.validators.judges import AnswerScore, Judgement, MadeUp, PlanGrade
from callwright.validators.metrics.callnavi.answers import WITHOUT_NOTATION
from callwright.validators.metrics.ratios import CandidateRun
from callwright.validators.reading.writing import Settlement, WrittenCalls, check_reading, has_calls
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import (
    Call,
    CallTurn,
    GoldCall,
    Prediction,
    ReplyTurn,
    ResultTurn,
    Sample,
    SampleFacts,
    Tool,
    UserTurn,
)
from callwright.warehouse.wire_names import wire_names

NOW = "2026-11-02 08:15"
TAXI = Tool(
    name="order_taxi",
    description="Order a taxi.",
    category="Travel",
    parameters={"type": "object", "properties": {"day": {"type": "string"}}},
)
DUE = GoldCall(tool="order_taxi", arguments={"day": "2026-11-03"})
MADE = Call(tool="order_taxi", arguments={"day": "tomorrow"})


def sample_of(kind: str) -> Sample:
    return Sample(
        kind=kind,
        language="en",
        category="Travel",
        candidates=(TAXI.key,),
        facts=SampleFacts(reference_time=NOW),
        turns=(
            UserTurn(text="A taxi for tomorrow, please."),
            CallTurn(calls=(DUE,), executed=True),
            ResultTurn(results=({"ok": True},)),
            ReplyTurn(text="It comes tomorrow.", acts=("inform",)),
        ),
    )


class PromptRecorder:
    """Answers anything, and keeps the prompts."""

    name = "listener"

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt, answer: type[Answer], *, sample_index: int = 0) -> Answer:
        self.asked.append(prompt)
        replies = (
            NextCalls(answer="Done."),
            Judgement(agree=True, reason=""),
            PlanGrade(score=1, reason=""),
            WrittenCalls(calls=[]),
            Settlement(reason="", right="first"),
            MadeUp(parameters=[], reason=""),
            AnswerScore(score=2, reason=""),
        )
        return next(
            answer.model_validate(one.model_dump())
            for one in replies
            if issubclass(answer, type(one))
        )

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        self.asked.append(prompt)
        if "<wanted>names" in prompt.marks:
            return Completion('["order_taxi"]', None)
        return Completion('[{"name": "order_taxi", "arguments": {}}]', None)

    def context_of(self, strategy: str) -> StageContext:
        """The context of a candidate whom this strategy is for."""
        return (
            self.context
            if STRATEGIES[strategy].is_for_models
            else self.context._replace(chat=self.function)
        )

    @property
    def function(self) -> FunctionModel:
        def answer(messages: Messages, _tools: object) -> str:
            role, content = messages[0]["role"], messages[0]["content"]
            self.asked.append(
                Prompt(
                    name="function", version="", messages=(ChatMessage(role=role, content=content),)
                )
            )
            return "Done."

        return FunctionModel("python/listener", answer, print, "predict")

    @property
    def context(self) -> StageContext:
        return StageContext(self, Random(1), {TAXI.key: TAXI})

    def assert_timed(self) -> None:
        assert self.asked
        for prompt in self.asked:
            assert f"Current date and time: {NOW}" in prompt.messages[0].content, prompt.name


# A task is asked for as any path is, and needs a world besides.
@pytest.mark.parametrize("kind", [kind for kind in all_kinds() if not traits_of(kind).is_task])
async def test_every_prompt_of_every_strategy_states_when_the_conversation_takes_place(
    kind: str,
) -> None:
    sample, chat = sample_of(kind), PromptRecorder()
    if traits_of(kind).asked == "path":
        for strategy in PATH_STRATEGIES:
            await run_path(
                sample, chat.context_of(strategy), run=PathRun("v1", "a", strategy), judge=chat
            )
    else:
        for name in STRATEGIES:
            for notation in ("json", "yaml") if name not in WITHOUT_NOTATION else ("json",):
                run = CandidateRun("v1", "a", name)
                await predict(
                    sample,
                    chat.context_of(name),
                    run=run,
                    prompting=PromptingStrategy(name, notation),
                )
    chat.assert_timed()


@pytest.mark.parametrize("kind", [kind for kind in all_kinds() if traits_of(kind).asked != "path"])
async def test_judges_and_checkers_are_told_as_well(kind: str) -> None:
    sample, chat = sample_of(kind), PromptRecorder()
    prediction = Prediction(
        release="v1", subject=sample.key, turn=1, candidate="a", text="", calls=(MADE,)
    )
    await judge_prediction(prediction, sample, chat.context)
    if graded_metric(prediction, sample):
        await grade_prediction(prediction, sample, chat.context)
    if has_calls(sample):
        await check_reading(sample, chat.context)
    chat.assert_timed()


class MessageRecorder(PromptRecorder):
    """Keeps what a function and a provider are sent, as it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Messages] = []

    async def complete(
        self, prompt: Prompt, tools: Sequence[Tool] = (), *, sample_index: int = 0
    ) -> Completion:
        self.sent.append(wire_messages(prompt.messages, wire_names(tools)))
        return Completion("Done.", None)

    @property
    def function(self) -> FunctionModel:
        def answer(messages: Messages, _tools: object) -> str:
            self.sent.append(messages)
            return "Done."

        return FunctionModel("python/listener", answer, print, "predict")


NATIVE = ["native", "messages"]
OURS = ("<", "template", "callwright", "JSON", "tools are listed", "harness")


@pytest.mark.parametrize("strategy", NATIVE)
@pytest.mark.parametrize("kind", ["perfect", "conversation", "routing_easy", "multi_step"])
async def test_functions_and_native_candidates_see_a_conversation_and_nothing_of_ours(
    kind: str, strategy: str
) -> None:
    sample, chat = sample_of(kind).with_changes(facts=SampleFacts()), MessageRecorder()
    if traits_of(kind).asked == "path":
        await run_path(sample, chat.context_of(strategy), run=PathRun("v1", "a", strategy))
    else:
        run = CandidateRun("v1", "a", strategy)
        await predict(
            sample, chat.context_of(strategy), run=run, prompting=PromptingStrategy(strategy)
        )
    for system, *others in chat.sent:
        assert system["role"] == "system"
        assert len(system["content"]) < 400
        assert not any(word in str((system, others)) for word in OURS)
        assert others[0] == {"role": "user", "content": "A taxi for tomorrow, please."}


@pytest.mark.parametrize("strategy", NATIVE)
async def test_calls_that_were_made_and_their_results_are_messages(strategy: str) -> None:
    chat = MessageRecorder()
    run, prompting = CandidateRun("v1", "a", strategy), PromptingStrategy(strategy)
    sample = sample_of("conversation")
    await predict(sample, chat.context_of(strategy), run=run, prompting=prompting)
    made, result = chat.sent[-1][-2:]
    [call] = made["tool_calls"]
    assert call["function"] == {"name": "order_taxi", "arguments": '{"day":"2026-11-03"}'}
    assert result == {"role": "tool", "tool_call_id": call["id"], "content": '{"ok":true}'}


async def test_who_names_tools_sees_a_line_of_each() -> None:
    """Not the words about each parameter: a catalog has hundreds of tools."""
    chat, words = PromptRecorder(), {"type": "string", "description": "Any day, such as tomorrow."}
    tool = TAXI.with_changes(
        description="Order a taxi.\nIt costs money.",
        parameters={"type": "object", "properties": {"day": words}, "required": ["day"]},
    )
    sample = sample_of("perfect").with_changes(candidates=(tool.key,))
    await predict(
        sample,
        chat.context._replace(tools={tool.key: tool}),
        run=CandidateRun("v1", "a", "route_then_fill"),
        prompting=PromptingStrategy("route_then_fill"),
    )
    naming, filling = (prompt.messages[0].content for prompt in chat.asked[:2])
    assert (
        '<tools>[{"name":"order_taxi","description":"Order a taxi.","parameters":{"properties":'
        '{"day":{"type":"string"}},"required":["day"]}}]</tools>'
    ) in naming
    assert "Any day" in filling


def test_a_switch_that_a_strategy_does_not_take_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="the strategies are direct, native"):
        prompting_by("sideways")
    with pytest.raises(ConfigurationError, match="only --strategy route_then_fill asks a router"):
        prompting_by("native", router="openai/x")
    with pytest.raises(ConfigurationError, match="leave out --format"):
        prompting_by("native", "yaml")
