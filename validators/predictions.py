"""Asking candidate models: what they reply at each snapshot, and the calls in it."""

from collections.abc import Iterator
from typing import NamedTuple

import orjson

from callwright.generators.kinds import traits_of
from callwright.generators.stages import StageContext
from callwright.generators.transcripts import conversation_text
from callwright.llm.chat import ChatModel
from callwright.llm.written_calls import ParsedReply, unreadable
from callwright.validators.replies import Style
from callwright.validators.shown_tools import AS_THEY_ARE, ShownTools
from callwright.validators.strategies import Models, PromptingStrategy, Question, Reply, ask_candidate, narrows_to
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Call, Prediction, ReplyTurn, Sample, Snapshot, ToolsShown

USUAL = PromptingStrategy()


class CandidateRun(NamedTuple):
    """One run of one candidate over one release; `run` counts repetitions of the same."""

    release: str
    candidate: str
    strategy: str = "direct"
    tools_shown: ToolsShown = "first"
    run: int = 0


async def predict(  # noqa: PLR0913 - a candidate may be asked in many ways
    sample: Sample,
    context: StageContext,
    *,
    run: CandidateRun,
    settings: str = "",
    style: Style = "lenient",
    prompting: PromptingStrategy = USUAL,
    router: ChatModel | None = None,
    shown: ShownTools = AS_THEY_ARE,
) -> list[Prediction]:
    """The candidate's reply at each snapshot of the sample; several runs are several answers to the same prompt.

    Each is asked for alone, after what came before it in the sample: earlier replies of the candidate are not shown, nor
    gold calls but those that were carried out. In conversations it is also asked where the assistant speaks. `settings` is
    kept with the predictions. It sees the tools as they are `shown`; its calls are kept in the names that they have.
    """
    setting = traits_of(sample.kind).asked
    candidates = shown.toolset(context.toolset(sample.candidates))
    seen = shown.sample(sample)
    models = Models(context.chat, router)
    predictions = []
    for number, snapshot in enumerate(asked_at(seen)):
        only = narrows_to(seen, number, run.tools_shown)
        tools = [tool for tool in candidates if not only or tool.name == only]
        question = Question(
            tools, conversation_text(snapshot.prefix), setting, run.run, sample.briefing, snapshot.prefix
        )
        try:
            reply = await ask_candidate(question, models, prompting, style)
        except ReplyError as error:  # a mistake of the candidate, or of its provider: it counts against it
            reply = Reply("", unreadable(str(error)))
        parsed = _storable_calls(reply.parsed)
        predictions.append(
            Prediction(
                **run._asdict(),
                subject=sample.key,
                turn=snapshot.turn,
                text=storable(reply.text),
                calls=_calls(parsed, shown),
                problem=storable(parsed.problem),
                reasoning=storable(reply.reasoning),
                settings=settings,
            )
        )
    return predictions


def asked_at(sample: Sample) -> Iterator[Snapshot]:
    """Where a candidate is asked: wherever calls are due, in conversations wherever the assistant speaks as well."""
    if traits_of(sample.kind).asked != "conversation":
        yield from sample.snapshots()
        return
    for index, turn in enumerate(sample.turns):
        if turn.kind == "calls":
            yield Snapshot(index, sample.turns[:index], turn.calls)
        elif isinstance(turn, ReplyTurn) and turn.acts:
            yield Snapshot(index, sample.turns[:index], ())


def _calls(parsed: ParsedReply, shown: ShownTools) -> tuple[Call, ...] | None:
    if parsed.calls is None:
        return None
    read = (shown.read(str(call.tool), call.arguments) for call in parsed.calls)
    return tuple(Call(tool=call.tool, arguments=call.arguments) for call in read)


def _storable_calls(parsed: ParsedReply) -> ParsedReply:
    """The reply as it was read, or unreadable where a call has no name or a value that no store takes."""
    for call in parsed.calls or ():
        if not isinstance(call.tool, str) or not call.tool:
            return unreadable(f"The reply calls {call.tool!r}, which is no tool's name.")
        try:
            orjson.dumps([call.tool, call.arguments])
        except TypeError as error:
            return unreadable(f"The reply has a value that can't be kept: {error}.")
    return parsed


def storable(text: str) -> str:
    """The text without halves of broken emoji, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def run_of(prediction: Prediction) -> CandidateRun:
    """The run that a prediction belongs to."""
    return CandidateRun(
        prediction.release, prediction.candidate, prediction.strategy, prediction.tools_shown, prediction.run
    )
