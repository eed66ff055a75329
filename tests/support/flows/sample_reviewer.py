"""What an annotator of samples types: other values, a comma too much, a verdict with its
reasons.
"""

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from callwright.annotation.screens import SAMPLE_REVIEW
from callwright.warehouse.records import CallTurn, ReplyTurn, Sample, Tool, UserTurn
from callwright.warehouse.releases import read_tools
from tests.support.annotation.editing import as_sent, more_of
from tests.support.flows.keyboard_site import KeyboardSite, TypedAnswer, accept_or_reject
from tests.support.typist import ShownTask

NEW = "Upper Ashford"
FORMS = {"enum", "pattern", "format"}


class SampleReviewer:
    """Does one thing after the other to requests and to conversations, and remembers what it
    typed.
    """

    def __init__(self, context: KeyboardSite) -> None:
        self._context, self._typist = context, context.typist
        self.edits: dict[str, list[Any]] = {}
        self.broken: dict[str, str] = {}
        self.done: Counter[tuple[str, bool]] = Counter()

    def answer(self, shown: ShownTask, _number: int) -> TypedAnswer:
        sample = self._context.site.sample(shown.subject)
        is_single = len(sample.turns) == 2
        spoken = self._spoken(sample)
        if (
            spoken
            and not any(turn.kind == "result" for turn in sample.turns)
            and not self.done["edit", is_single]
        ):
            self.done["edit", is_single] += 1
            return self._edit(shown, sample, spoken)
        if is_single and not self.broken and sample.gold:
            return self._break(shown, sample)
        judged = sum(count for (decision, _), count in self.done.items() if decision != "edit")
        made = accept_or_reject(
            self._context, SAMPLE_REVIEW, shown, judged, "wrong_value", "invented"
        )
        self.done[made.decision, is_single] += 1
        return made

    def _spoken(self, sample: Sample) -> str:
        tools = read_tools(self._context.site.warehouse, sample.candidates)
        return _spoken(sample, {tool.name: tool for tool in tools.values()})

    def _edit(self, shown: ShownTask, sample: Sample, old: str) -> TypedAnswer:
        """Another value, in the words and in the calls."""
        self._typist.choose(SAMPLE_REVIEW, "edit")
        for control, text in as_sent(shown.data["rows"]).items():
            if old in text:
                self._typist.tab_to(control)
                self._typist.replace_all(old, NEW)
        self._typist.leave_box()
        self.edits[sample.key] = told(sample, old, NEW)
        return TypedAnswer(sample.key, "edit")

    def _break(self, shown: ShownTask, sample: Sample) -> TypedAnswer:
        """A line that is none."""
        self._typist.choose(SAMPLE_REVIEW, "edit")
        self._typist.tab_to(more_of(shown.data["rows"]))
        self._typist.append("what is this")
        self._typist.leave_box()
        self.broken[sample.key] = "what is this"
        return TypedAnswer(sample.key, "returned")


def told(sample: Sample, old: str = "", new: str = "") -> list[Any]:
    """What a sample says, turn by turn, with other words for some."""

    def swap(value: Any) -> Any:
        return json.loads(json.dumps(value).replace(old, new)) if old else value

    return [
        (
            swap(turn.text)
            if isinstance(turn, UserTurn | ReplyTurn)
            else (
                swap([[call.tool, call.arguments] for call in turn.calls])
                if isinstance(turn, CallTurn)
                else turn
            )
        )
        for turn in sample.turns
    ]


def _spoken(sample: Sample, tools: Mapping[str, Tool]) -> str:
    """A value that the user says word for word, and that may be any text; "" where there is
    none.
    """
    return next(
        (
            proof.quote
            for call in sample.gold
            for proof in call.evidence
            if proof.kind == "span"
            and call.arguments.get(proof.argument) == proof.quote
            and not FORMS & set(tools[call.tool].properties[proof.argument])
        ),
        "",
    )
