"""Asking candidate models: what they reply at each snapshot, and the calls in it."""

import orjson

from generators.desk import Desk
from llm.chat import Completion
from llm.prompts import render
from validators.contexts import narrows_to
from validators.conversations import conversation_text
from validators.proposals import PROMPTS, shown_tools
from validators.replies.parsed import ParsedReply, unreadable
from validators.replies.reading import Style, parse_completion
from validators.runs import CandidateRun
from warehouse.errors import ReplyError
from warehouse.records import Call, Prediction, Sample

TEMPLATE = "answer_as_candidate"


async def predict(
    sample: Sample, desk: Desk, *, run: CandidateRun, settings: str = "", style: Style = "lenient"
) -> list[Prediction]:
    """The candidate's reply at each snapshot of the sample; several runs are several answers to the same prompt.

    The gold of earlier snapshots is not shown, and neither are earlier replies: each is asked for alone. `settings` is
    kept with the predictions.
    """
    candidates = shown_tools(sample, desk)
    predictions = []
    for number, snapshot in enumerate(sample.snapshots()):
        only = narrows_to(sample, number, run.tools_shown)
        tools = [tool for tool in candidates if not only or tool["name"] == only]
        prompt = render(PROMPTS, TEMPLATE, tools=tools, conversation=conversation_text(snapshot.prefix))
        try:
            completion = await desk.chat.complete(prompt, sample_index=run.run)
        except ReplyError as error:  # a mistake of the candidate, or of its provider: it counts against it
            completion = Completion("", None)
            parsed = unreadable(str(error))
        else:
            parsed = _storable_calls(parse_completion(completion, style))
        predictions.append(
            Prediction(
                **run._asdict(),
                subject=sample.key,
                turn=snapshot.turn,
                text=_storable(completion.text),
                calls=_calls(parsed),
                problem=_storable(parsed.problem),
                settings=settings,
            )
        )
    return predictions


def _calls(parsed: ParsedReply) -> tuple[Call, ...] | None:
    if parsed.calls is None:
        return None
    return tuple(Call(tool=str(call.tool), arguments=call.arguments) for call in parsed.calls)


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


def _storable(text: str) -> str:
    """The text without halves of broken emoji, which no database takes."""
    return text.encode("utf-8", "replace").decode("utf-8")
