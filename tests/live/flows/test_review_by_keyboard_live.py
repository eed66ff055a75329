"""An annotator labels six or ten tasks of each kind by the keyboard alone; after the pull the
warehouse holds what was typed.

A real Chromium, a real Label Studio, and a work folder with real builds.
"""

import copy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from callwright.annotation.screens import (
    CORRECTION,
    DIALOGUE_ACTS,
    DISAMBIGUATION,
    PREDICTION_AUDIT,
    SAMPLE_REVIEW,
    TOOL_REVIEW,
)
from callwright.annotation.studio.client import LabelStudio
from callwright.annotation.studio.server import ServerInfo
from callwright.flows.review.pulling import Pulled
from callwright.warehouse.records import ReplyTurn, ResultTurn, Sample
from callwright.warehouse.releases import read_tools
from tests.support.browsers import open_browser
from tests.support.flows.asked_site import EACH, ask_about_samples, asked, fill_site
from tests.support.flows.keyboard_site import KeyboardSite, TypedAnswer, accept_or_reject
from tests.support.flows.live_sites import People, site_at
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import ReviewSite, open_site
from tests.support.flows.sample_reviewer import SampleReviewer, told
from tests.support.typist import ShownTask, Typist

pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.enable_socket]
SOME = 6  # tasks in which all that can be answered is answered once; of samples two more


@pytest.fixture(scope="module")
def context(
    label_studio_server: ServerInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeyboardSite]:
    """An annotator who has signed in where samples were pushed."""
    site = open_site(tmp_path_factory.mktemp("asked"), PaperStudio())
    ask_about_samples(site, "en")
    with _annotator_of(site, label_studio_server) as found:
        yield found


@pytest.fixture(scope="module")
def of_each_kind(
    label_studio_server: ServerInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KeyboardSite]:
    """The same where all that can be asked was pushed."""
    site = fill_site(tmp_path_factory.mktemp("all-asked"))
    assert len(asked(site)) == 6
    with _annotator_of(site, label_studio_server) as found:
        yield found


@contextmanager
def _annotator_of(filled: ReviewSite, server: ServerInfo) -> Iterator[KeyboardSite]:
    waiting = asked(filled)
    assert min(waiting.values()) >= EACH
    people = People(server.url, server.token)
    people.remove_projects()
    people.close()
    with LabelStudio(server.url, server.token, name="local") as studio:
        site = site_at(filled.settings.home, studio)
        assert site.push() == (sum(waiting.values()), 0)
        with open_browser() as browser:
            page = browser.new_page(viewport={"width": 1366, "height": 768})
            page.set_default_timeout(60_000)
            typist = Typist(page, server.url)
            typist.sign_in(server)
            yield KeyboardSite(site, studio, typist, server.username)


def test_requests_and_conversations_are_reviewed(context: KeyboardSite) -> None:
    site, reviewer = context.site, SampleReviewer(context)
    answers = context.label(SAMPLE_REVIEW, reviewer.answer, SOME + 2)
    assert reviewer.done["edit", True]
    assert {is_single for _, is_single in reviewer.done} == {True, False}
    assert {decision for decision, _ in reviewer.done} == {"accept", "edit", "reject"}
    pulled = context.pull()
    assert (pulled.reviews, pulled.returned, pulled.problems) == (SOME + 1, 1, ())
    context.see_reviews(SAMPLE_REVIEW, [one for one in answers if one.decision != "returned"])
    for answer in answers:
        accepted = site.accepted(answer.subject)
        if answer.decision == "accept":
            assert accepted is not None
            assert accepted["accepted_by"] == context.reviewer
        if answer.decision in ("edit", "reject"):
            assert accepted is None
        if answer.decision == "edit":
            result = context.result_of(answer, SAMPLE_REVIEW)
            edited = site.sample(result)
            assert told(edited) == reviewer.edits[answer.subject]
            assert edited.origin is not None
            assert edited.origin.parents == (answer.subject,)
            landed = (site.accepted(result) or {}).get("accepted_by") == context.reviewer
            waits = site.rows(
                "select 1 from review_queue where subject = ? and not is_answered", result
            )
            doubts = site.rows(
                "select 1 from newest_verdicts where subject = ? and decision <> 'proved'", result
            )
            assert landed or waits or doubts, "only what readers doubt of an edit does not land"
    rows = site.rows(
        "select subject, version, calls from review_rounds where cause = 'returned edit'"
    )
    assert [(row["subject"], row["version"]) for row in rows] == [
        (subject, 2) for subject in reviewer.broken
    ]
    assert all(reviewer.broken[row["subject"]] in row["calls"] for row in rows)


@pytest.mark.slow
def test_tools_are_reviewed(of_each_kind: KeyboardSite) -> None:
    typist, edits = of_each_kind.typist, {}

    def answer(shown: ShownTask, number: int) -> TypedAnswer:
        if number % 4:
            return accept_or_reject(of_each_kind, TOOL_REVIEW, shown, number, "redundant", "other")
        typist.choose(TOOL_REVIEW, "edit")
        name = typist.tab_to("edited_name")
        typist.append("Later")
        description = typist.tab_to("edited_description")
        typist.append(" At once.")
        schema = json.loads(typist.tab_to("edited_parameters"))
        parameter = next(iter(schema["properties"].values()))
        typist.replace(
            f'"description": "{parameter["description"]}"', '"description": "what is meant"'
        )
        typist.leave_box()
        parameter["description"] = "what is meant"
        edits[shown.subject] = {
            "name": f"{name}Later",
            "description": f"{description} At once.",
            "parameters": schema,
        }
        return TypedAnswer(shown.subject, "edit")

    answers = of_each_kind.label(TOOL_REVIEW, answer, SOME)
    assert of_each_kind.pull().reviews == SOME
    of_each_kind.see_reviews(TOOL_REVIEW, answers)
    assert edits
    for one in (one for one in answers if one.decision == "edit"):
        made = of_each_kind.result_of(one, TOOL_REVIEW)
        tools = read_tools(of_each_kind.site.warehouse, [one.subject, made])
        assert tools[made] == tools[one.subject].with_changes(**edits[one.subject])
    stands = {"accept": "passed", "edit": "passed", "reject": "rejected"}
    assert {one.subject: of_each_kind.site.standing(one.subject)[1] for one in answers} == {
        one.subject: stands[one.decision] for one in answers
    }


@pytest.mark.slow
def test_corrections_are_reviewed(of_each_kind: KeyboardSite) -> None:
    answers = of_each_kind.label(
        CORRECTION,
        lambda shown, number: accept_or_reject(
            of_each_kind, CORRECTION, shown, number, "incomplete", "wrong_pick"
        ),
    )
    assert of_each_kind.pull().reviews == EACH
    decided = of_each_kind.site.rows(
        "select subject, decision, reasons, comment from decisions where kind = ?", CORRECTION
    )
    paths = {one.subject for one in answers}
    found = [
        TypedAnswer(*row.values())._replace(reasons=tuple(row["reasons"]))
        for row in decided
        if row["subject"] in paths
    ]
    assert sorted(found) == sorted(answers)
    made = "select distinct sample from build_samples where list_contains(?::varchar[], draft)"
    rejected = [one.subject for one in answers if one.decision == "reject"]
    samples = [row["sample"] for row in of_each_kind.site.rows(made, rejected)]
    assert samples
    own = {
        row["subject"]
        for row in of_each_kind.site.rows(
            "select subject from reviews where kind = ?", SAMPLE_REVIEW
        )
    }
    assert [of_each_kind.site.accepted(key) for key in samples if key not in own] == [None] * len(
        set(samples) - own
    )


@pytest.mark.slow
def test_entries_are_struck(of_each_kind: KeyboardSite) -> None:
    site, typist = of_each_kind.site, of_each_kind.typist
    struck: dict[str, list[str]] = {}

    def answer(shown: ShownTask, number: int) -> TypedAnswer:
        if number % 3:
            return accept_or_reject(
                of_each_kind, DISAMBIGUATION, shown, number - 1, "wrong_pick", "indistinct"
            )
        typist.choose(DISAMBIGUATION, "edit")
        first, *others = shown.data["strikes"]
        typist.tick_first()
        typist.press(*(box["hotkey"] for box in others[:1]))
        struck[shown.subject] = [box["alias"] for box in (first, *others[:1])]
        return TypedAnswer(shown.subject, "edit")

    answers = of_each_kind.label(DISAMBIGUATION, answer)
    pulled = of_each_kind.pull()
    assert (pulled.reviews, pulled.problems) == (EACH, ())
    of_each_kind.see_reviews(DISAMBIGUATION, answers)
    assert max(map(len, struck.values())) > 1
    for one in (one for one in answers if one.decision == "edit"):
        edited = site.sample(of_each_kind.result_of(one, DISAMBIGUATION))
        assert _responses(edited) == _without(site.sample(one.subject), struck[one.subject])


def _responses(sample: Sample) -> list[list[Any]]:
    return [list(turn.results) for turn in sample.turns if isinstance(turn, ResultTurn)]


def _without(sample: Sample, boxes: list[str]) -> list[list[Any]]:
    """What the calls of a sample returned, without the entries of these boxes:
    `step.call.entry:list`.
    """
    found = copy.deepcopy(_responses(sample))
    for where, _, names in sorted(
        (box.partition(":") for box in boxes), key=lambda one: -int(one[0].split(".")[2])
    ):
        step, call, entry = map(int, where.split("."))
        held = found[step][call]
        for name in names.split("."):
            held = held[name]
        del held[entry]
    return found


@pytest.mark.slow
def test_dialogue_acts_are_reviewed(of_each_kind: KeyboardSite) -> None:
    site, typist = of_each_kind.site, of_each_kind.typist
    corrected: dict[str, tuple[str, ...]] = {}

    def answer(shown: ShownTask, number: int) -> TypedAnswer:
        if number % 3:
            return accept_or_reject(
                of_each_kind, DIALOGUE_ACTS, shown, number - 1, "ambiguous_turn", "unnatural"
            )
        typist.choose(DIALOGUE_ACTS, "edit")
        told = typist.tab_to("edited_acts").partition("]")[0]
        typed = "inform, seek" if told != "1 [inform, seek" else "seek"
        typist.replace(told, f"1 [{typed}")
        typist.leave_box()
        corrected[shown.subject] = ("seek", "inform") if typed == "inform, seek" else ("seek",)
        return TypedAnswer(shown.subject, "edit")

    answers = of_each_kind.label(DIALOGUE_ACTS, answer)
    assert of_each_kind.pull().reviews == EACH
    of_each_kind.see_reviews(DIALOGUE_ACTS, answers)
    for one in (one for one in answers if one.decision == "edit"):
        before, after = (
            site.sample(key) for key in (one.subject, of_each_kind.result_of(one, DIALOGUE_ACTS))
        )
        acts, others = (
            [turn.acts for turn in sample.turns if isinstance(turn, ReplyTurn)]
            for sample in (after, before)
        )
        assert acts == [corrected[one.subject], *others[1:]]
        assert told(after) == told(before)


@pytest.mark.slow
def test_the_metric_is_audited(of_each_kind: KeyboardSite) -> None:
    answers = of_each_kind.label(
        PREDICTION_AUDIT,
        lambda shown, number: accept_or_reject(
            of_each_kind, PREDICTION_AUDIT, shown, number, "too_strict", "unclear_request"
        ),
    )
    assert of_each_kind.pull() == Pulled(reviews=EACH, accepted=4, rejected=6)
    of_each_kind.see_reviews(PREDICTION_AUDIT, answers)
    audited = of_each_kind.site.rows(
        "select sum(n_audited) as audited, sum(n_agreed) as agreed from metric_audit"
    )
    assert audited == [{"audited": EACH, "agreed": 4}]
