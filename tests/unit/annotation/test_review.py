import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callwright.annotation.calls import read_calls, write_calls
from callwright.annotation.sample_review import parse_review
from callwright.warehouse.errors import AnnotationError, RecordError
from callwright.warehouse.records import Tool


def _calls(**arguments: object) -> str:
    return json.dumps([{"tool": "book_table", "arguments": arguments}])


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
    typed = _calls(restaurant="Trattoria Verde", date="2026-05-04", people=4)
    parsed = parse_review(annotate(("edit",), calls=typed), sample, tools)
    edited = parsed.edited
    assert parsed.review.decision == "edit"
    assert parsed.review.result == edited.key != sample.key
    assert edited.origin.stage == "review"
    assert edited.origin.parents == (sample.key,)
    assert edited.gold[0].arguments == {
        "restaurant": "Trattoria Verde",
        "date": "2026-05-04",
        "people": 4,
    }
    assert edited.request == sample.request


def test_what_the_reviewer_changed_rests_on_the_reviewer_and_the_rest_on_what_was_said(
    annotate, sample, tools
):
    typed = _calls(restaurant="Trattoria Verde", date="2026-05-04", people=4)
    evidence = parse_review(annotate(("edit",), calls=typed), sample, tools).edited.gold[0].evidence
    assert {item.argument: item.kind for item in evidence} == {
        "restaurant": "span",
        "date": "person",
        "people": "normalised",
    }


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("[{", "The list of calls is not valid JSON: .* in line 1"),
        ('{"tool": "book_table"}', "must be a JSON list"),
        ('["book_table"]', 'just "tool" and "arguments"'),
        ('[{"tool": "fly", "arguments": {}}]', '"fly" is not an offered tool'),
        ('[{"tool": "book_table", "arguments": []}]', '"arguments" must be an object'),
        (_calls(restaurant="A", date="2026-05-03", wine="red"), "no parameter 'wine'"),
        (_calls(restaurant="A"), "'date' is a required property"),
        (_calls(restaurant="A", date="2026-05-03", people=0), "people: 0 is less than the minimum"),
        (_calls(restaurant="A", date="2026-05-03", time="7:30"), "time: '7:30' does not match"),
        (_calls(restaurant="A", date="3 May"), "date: '3 May' is not a 'date'"),
        (
            '[{"tool": "book_table", "arguments": {"date": "1", "date": "2"}}]',
            "'date' is given twice",
        ),
        ('[{"tool": "book_table", "arguments": {"people": NaN}}]', "NaN is not a number"),
        ('[{"tool": "book_table", "arguments": {"people": 1e999}}]', "1e999 is not a number"),
        (
            '[{"tool": "book_table", "arguments": {"people": 99999999999999999999}}]',
            "beyond 64 bits",
        ),
        ('[{"tool": "book_table", "arguments": {"restaurant": "\\ud800"}}]', "half of a character"),
        ("9" * 5000, "can't be read"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        (None, "fields of the calls are empty"),
    ],
)
def test_calls_that_cannot_be_used_come_back_with_a_reason(typed, problem, annotate, sample, tools):
    parsed = parse_review(annotate(("edit",), request="Other words.", calls=typed), sample, tools)
    assert parsed.outcome == "returned"
    assert parsed.review is None
    with pytest.raises(RecordError, match=problem):
        raise RecordError(parsed.returned.problem)
    assert parsed.returned.request == "Other words."
    assert typed is None or parsed.returned.calls == typed


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
    parsed = parse_review(
        annotate(verdicts, request=sample.request, calls=write_calls(sample.gold)), sample, tools
    )
    assert parsed.outcome == "returned"
    assert parsed.returned.problem == problem


def test_an_edit_that_changes_nothing_is_asked_back(annotate, sample, tools):
    typed = annotate(("edit",), request=sample.request, calls=write_calls(sample.gold))
    parsed = parse_review(typed, sample, tools)
    assert parsed.outcome == "returned"
    assert "nothing is edited" in parsed.returned.problem
    assert parsed.returned.request == sample.request


def test_a_control_of_another_type_is_refused_with_task_and_field(annotate, sample, tools):
    broken = {
        "from_name": "verdict",
        "to_name": "conversation",
        "type": "rating",
        "value": {"rating": 5},
    }
    with pytest.raises(AnnotationError, match=r"'verdict' of task 7 .* 'choices'"):
        parse_review(annotate(result=[broken]), sample, tools)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(request=st.text(min_size=1), calls=st.text(min_size=1))
def test_whatever_is_typed_is_either_used_or_carried_back(request, calls, annotate, sample, tools):
    parsed = parse_review(annotate(("edit",), request=request, calls=calls), sample, tools)
    if parsed.outcome == "returned":
        assert (parsed.returned.request, parsed.returned.calls) == (request, calls)
    else:
        assert parsed.edited.request == request.strip()


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
    typed = "[]" if arguments is None else _calls(**arguments)
    edited = parse_review(
        annotate(("edit",), calls=typed, subject=sample.key), sample, tools
    ).edited
    assert edited.kind == becomes
    assert edited.origin.parents == (sample.key,)


def test_a_schema_that_refers_to_what_is_not_in_it_is_the_catalogs_matter_and_nobody_is_asked_for_it():
    schema = {"type": "object", "properties": {"city": {"$ref": "http://127.0.0.1:1/city.json"}}}
    tool = Tool(name="tell", description="Tell.", category="Any", parameters=schema)
    [read] = read_calls('[{"tool": "tell", "arguments": {"city": "Ulm"}}]', [tool])
    assert read.arguments == {"city": "Ulm"}
