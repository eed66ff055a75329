"""What models say is shown as text in every screen, however nasty and long it is, and the screen
stays usable.
"""

from collections.abc import Callable

import pytest

from callwright.annotation.dialogue_acts import acts_task
from callwright.annotation.finding_review import AskedFinding, finding_task
from callwright.annotation.multi_step_review import correction_task, disambiguation_task
from callwright.annotation.prediction_audit import AuditCase, audit_task
from callwright.annotation.reviews import QueuedTask, ReviewTask
from callwright.annotation.sample_review import review_task
from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    FINDING_REVIEW,
    PREDICTION_AUDIT,
    REVIEW_KINDS,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
    screen_for,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.tool_review import ToolSurroundings, tool_task
from callwright.validators.checks.table import in_english
from callwright.warehouse.records import (
    Call,
    CallTurn,
    DoubtedFact,
    GoldCall,
    Prediction,
    ReplyTurn,
    ResultTurn,
    Sample,
    Tool,
    Verdict,
)
from tests.live.annotation.test_screen_in_browser import HOSTILE
from tests.support.annotation.annotator_screen import AnnotatorScreen, assert_seen
from tests.support.annotation.paths import TOOLS, doubt, goal_path, path_sample

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]

MARKS = "\u202eright to left\u202c \u200f\u2067 \x00\x07\x1b[2J\x0b"
NASTY = f"{HOSTILE} {MARKS} end"
LONG = f"{NASTY} {'All of it stays text. ' * 9_500} {NASTY}"  # 200 KB
SHOWN = (
    "<script>alert(1)</script>",
    '<img src="http://127.0.0.1:9/x"',
    "<View><Choices/></View>",
    "{{7*7}}",
    "right to left",
)


@pytest.fixture
def nasty_task(
    tools: list[Tool], make_sample: Callable[..., Sample], talk: Sample
) -> Callable[[str], ReviewTask]:
    """The task of a review kind in which everything that a model can write is nasty."""

    def make(kind: str) -> ReviewTask:
        return {
            SAMPLE_REVIEW: lambda: _sample_task(make_sample(LONG), tools),
            TOOL_REVIEW: lambda: _tool_task(tools[0]),
            CORRECTION: lambda: correction_task(
                goal_path().with_changes(request=LONG), TOOLS, [], reason=NASTY
            ),
            DISAMBIGUATION: _disambiguation_task,
            DIALOGUE_ACTS: lambda: acts_task(_nasty_talk(talk), reason=NASTY),
            PREDICTION_AUDIT: lambda: _audit_task(make_sample(NASTY), tools),
            FINDING_REVIEW: _finding_task,
        }[kind]()

    return make


def _sample_task(sample: Sample, tools: list[Tool], value: str = LONG) -> ReviewTask:
    calls = CallTurn(calls=(GoldCall(tool=NASTY, arguments={NASTY: value}),))
    verdict = Verdict(subject=sample.key, check="grounding", decision="contradicted", reason=NASTY)
    return review_task(
        sample.with_changes(turns=(sample.turns[0], calls)), tools, [verdict], reason=NASTY
    )


def _tool_task(tool: Tool) -> ReviewTask:
    schema = {
        "type": "object",
        "properties": {NASTY: {"type": "string", "description": NASTY}},
        "required": [],
    }
    nasty = tool.with_changes(name=f"Dining.{HOSTILE}", description=LONG, parameters=schema)
    gap = DoubtedFact(kind="unmanaged", tool=NASTY, argument=NASTY)
    return tool_task(
        nasty,
        ToolSurroundings([tool.with_changes(description=NASTY)], in_english([gap])),
        [],
        reason=NASTY,
    )


def _disambiguation_task() -> ReviewTask:
    hotel = {"hotel_id": "h2", "name": LONG, "price": 70, NASTY: NASTY}
    found = [hotel | {"hotel_id": f"h{number}"} for number in range(3)]
    sample = path_sample({"data": {"hotels": found}})
    turns = (sample.turns[0].with_changes(text=LONG), *sample.turns[1:])
    return disambiguation_task(sample.with_changes(turns=turns), [doubt(sample)], reason=NASTY)


def _nasty_talk(talk: Sample) -> Sample:
    said = [
        (
            turn.with_changes(text=LONG)
            if isinstance(turn, ReplyTurn)
            else (
                turn.with_changes(results=({NASTY: LONG},))
                if isinstance(turn, ResultTurn)
                else turn
            )
        )
        for turn in talk.turns
    ]
    return talk.with_changes(turns=tuple(said))


def _audit_task(sample: Sample, tools: list[Tool]) -> ReviewTask:
    calls = (Call(tool=NASTY, arguments={NASTY: LONG}),)
    answer = Prediction(
        release="v1", subject=sample.key, turn=1, candidate="m", text=LONG, calls=calls
    )
    return audit_task(AuditCase(answer, sample, tools, "wrong_tool"), reason=NASTY)


def _finding_task() -> ReviewTask:
    finding = AskedFinding(
        key="f1",
        sort="unit",
        severity="error",
        called=NASTY,
        said=LONG,
        reason=LONG,
        gold={NASTY: LONG},
        expected=LONG,
        document=LONG,
        place=NASTY,
    )
    return finding_task(finding, reason=NASTY)


@pytest.mark.parametrize("kind", REVIEW_KINDS)
def test_what_a_model_writes_is_text_and_the_verdict_stays_in_reach(
    kind: str,
    context: AnnotatorScreen,
    nasty_task: Callable[[str], ReviewTask],
    label_studio: LabelStudio,
) -> None:
    named = f"nasty_{kind}_{id(context)}"
    project = label_studio.ensure_project(screen_for(kind).with_changes(kind=named))
    task = nasty_task(kind).with_changes(kind=named)
    label_studio.push(project, [QueuedTask(task)])
    context.dialogs.clear()
    context.strangers.clear()
    context.open(project)
    shown = context.page.inner_text(".cw")
    for text in SHOWN:
        assert text in shown, f"{text} is not shown as it was written"
    assert context.page.locator(".cw script, .cw img, .cw iframe").count() == 0
    assert_seen(context, ".cw-top")
    widths = context.page.evaluate(
        "[document.documentElement.scrollWidth, document.querySelector('.cw').scrollWidth]"
    )
    assert max(widths) <= 1366
    context.page.mouse.wheel(0, 100_000)
    assert_seen(context, ".cw-top")
    if kind == SAMPLE_REVIEW:
        assert_fields_show_it_as_text(context)
    context.page.keyboard.press("1")
    context.submit()
    (annotation,) = label_studio.pull(project).annotations
    assert annotation.subject == task.subject
    assert [one["value"] for one in annotation.result if one["from_name"] == "verdict"] == [
        {"choices": ["accept"]}
    ]
    assert context.dialogs == []
    assert context.strangers == []


def assert_fields_show_it_as_text(context: AnnotatorScreen) -> None:
    context.page.keyboard.press("2")
    fields = context.page.locator(".cw-fields")
    fields.locator("input").first.wait_for()
    assert "<script>" in fields.inner_text()
    assert "<script>" in fields.locator("input").first.input_value()
    assert context.page.locator(".cw script, .cw img, .cw iframe").count() == 0
    assert context.page.evaluate("document.querySelector('.cw').scrollWidth") <= 1366


def test_marks_that_turn_the_writing_round_turn_nothing_else_round(
    context: AnnotatorScreen,
    make_sample: Callable[..., Sample],
    tools: list[Tool],
    label_studio: LabelStudio,
) -> None:
    """Right-to-left marks that are never closed end with the text in which they stand."""
    named = f"turned_{id(context)}"
    project = label_studio.ensure_project(screen_for(SAMPLE_REVIEW).with_changes(kind=named))
    nasty = _sample_task(make_sample(NASTY), tools, NASTY)
    open_ended = nasty.with_changes(kind=named, why="\u202eLook: turned", failed="plain words")
    label_studio.push(project, [QueuedTask(open_ended)])
    context.open(project)
    before, after = (
        context.page.get_by_text(text, exact=False).first.evaluate(_FIRST_AND_LAST)
        for text in ("Look: turned", "plain words")
    )
    assert before[0] > before[1], "the mark has no effect; then this test says nothing"
    assert after[0] < after[1]


# How far to the right the first and the last letter of a text stand.
_FIRST_AND_LAST = """node => {
    const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), text = walk.nextNode(), range = document.createRange();
    const at = index => { range.setStart(text, index); range.setEnd(text, index + 1); return range.getBoundingClientRect().x; };
    const letters = [...text.data].map((one, index) => [one, index]).filter(([one]) => /[a-z]/.test(one)).map(([, at]) => at);
    return [at(letters[0]), at(letters[letters.length - 1])];
}"""
