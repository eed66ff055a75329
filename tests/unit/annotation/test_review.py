import pytest

from callwright.annotation.calls import check_arguments
from callwright.annotation.sample_review import parse_review, review_task
from callwright.warehouse.errors import AnnotationError
from callwright.warehouse.records import Call, Tool
from tests.support.annotation.editing import edited


def _typed(sample, tools, request=None, **arguments: object) -> dict[str, str]:
    """What is sent of a sample with these arguments in the place of its own."""
    rows = review_task(sample, tools, [], reason="-").data()["rows"]
    calls = [Call(tool="book_table", arguments=arguments)] if arguments else None
    return edited(rows, request, calls)


def test_an_accepted_sample_gives_a_review_with_who_when_and_how_long(annotate, sample, tools):
    parsed = parse_review(annotate(("accept",), comment="Fine."), sample, tools)
    review = parsed.review
    assert parsed.outcome == "reviewed"
    assert parsed.edited is None
    assert (review.subject, review.decision, review.reviewer) == (
        sample.key,
        "accept",
        "reviewer@localhost",
    )
    assert (review.seconds, review.comment, review.result) == (12.5, "Fine.", None)
    assert review.reviewed_at.tzinfo is not None


def test_an_edit_of_the_calls_makes_a_child_of_the_sample(annotate, sample, tools):
    typed = _typed(sample, tools, restaurant="Trattoria Verde", date="2026-05-04", people=4)
    parsed = parse_review(annotate(("edit",), typed=typed), sample, tools)
    edit = parsed.edited
    assert parsed.review.decision == "edit"
    assert parsed.review.result == edit.key != sample.key
    assert edit.origin.stage == "review"
    assert edit.origin.parents == (sample.key,)
    assert edit.gold[0].arguments == {
        "restaurant": "Trattoria Verde",
        "date": "2026-05-04",
        "people": 4,
    }
    assert edit.request == sample.request


def test_what_the_reviewer_changed_rests_on_the_reviewer_and_the_rest_on_what_was_said(
    annotate, sample, tools
):
    typed = _typed(sample, tools, restaurant="Trattoria Verde", date="2026-05-04", people=4)
    parsed = parse_review(annotate(("edit",), typed=typed), sample, tools)
    evidence = parsed.edited.gold[0].evidence
    assert {item.argument: item.kind for item in evidence} == {
        "restaurant": "span",
        "date": "person",
        "people": "normalised",
    }


@pytest.mark.parametrize(
    ("verdicts", "problem"),
    [
        ((), "No verdict was chosen."),
        (("accept", "reject"), "2 verdicts were chosen (accept, reject); choose one."),
        (("reject",), "The rejection has no reason."),
    ],
)
def test_an_annotation_without_one_clear_answer_comes_back(
    verdicts, problem, annotate, sample, tools
):
    parsed = parse_review(annotate(verdicts, typed=_typed(sample, tools, "Hello.")), sample, tools)
    assert parsed.outcome == "returned"
    assert parsed.returned.problem == problem
    assert verdicts == ("reject",) or "Hello." in parsed.returned.calls


def test_a_control_of_another_type_is_refused_with_task_and_field(annotate, sample, tools):
    broken = {
        "from_name": "verdict",
        "to_name": "conversation",
        "type": "rating",
        "value": {"rating": 5},
    }
    with pytest.raises(AnnotationError, match=r"'verdict' of task 7 .* 'choices'"):
        parse_review(annotate(result=[broken]), sample, tools)


@pytest.mark.parametrize(
    ("kind", "arguments", "becomes"),
    [
        ("imperfect", {"restaurant": "Trattoria Verde", "date": "2026-05-03"}, "perfect"),
        ("imperfect", {"restaurant": "Trattoria Bianca"}, "imperfect"),
        ("imperfect", None, "irrelevant"),
        ("perfect", None, "irrelevant"),
        ("irrelevant", {"restaurant": "Trattoria Verde", "date": "2026-05-03"}, "perfect"),
        ("external", {"restaurant": "Trattoria Verde", "date": "2026-05-04"}, "external"),
    ],
)
def test_the_kind_follows_the_edit(kind, arguments, becomes, annotate, make_sample, tools):
    sample = make_sample(kind=kind)
    rows = review_task(sample, tools, [], reason="-").data()["rows"]
    calls = [Call(tool="book_table", arguments=arguments)] if arguments else []
    edit = parse_review(
        annotate(("edit",), typed=edited(rows, calls=calls), subject=sample.key), sample, tools
    ).edited
    assert edit.kind == becomes
    assert edit.origin.parents == (sample.key,)


def test_a_schema_that_refers_to_what_is_not_in_it_is_the_catalogs_matter_and_nobody_is_asked_for_it():
    schema = {"type": "object", "properties": {"city": {"$ref": "http://127.0.0.1:1/city.json"}}}
    tool = Tool(name="tell", description="Tell.", category="Any", parameters=schema)
    check_arguments(tool, {"city": "Ulm"}, may_leave_out=False)
