import pytest

from annotation.studio.records import read_annotation
from warehouse.errors import AnnotationError

TASK = {"id": 7, "data": {"callwright_key": "sample_review:abc:2"}}
ANNOTATION = {
    "id": 70,
    "completed_by": 3,
    "result": [],
    "was_cancelled": False,
    "created_at": "2026-11-21T09:00:00.000000Z",
    "updated_at": "2026-11-21T10:00:00.250000Z",
    "lead_time": 3.5,
}


def test_an_exported_annotation_becomes_a_record():
    pulled = read_annotation(TASK, ANNOTATION, {3: "reviewer@localhost"}, "http://127.0.0.1:1")
    assert (pulled.kind, pulled.subject, pulled.version) == ("sample_review", "abc", 2)
    assert (pulled.reviewer, pulled.seconds, pulled.skipped) == ("reviewer@localhost", 3.5, False)
    assert pulled.reviewed_at.isoformat() == "2026-11-21T10:00:00.250000+00:00"


def test_a_reviewer_without_an_address_is_named_by_id():
    assert read_annotation(TASK, ANNOTATION, {}, "s").reviewer == "3"
    assert read_annotation(TASK, ANNOTATION | {"completed_by": {"id": 4}}, {}, "s").reviewer == "4"


def test_an_annotation_that_somebody_else_changed_is_the_word_of_whoever_changed_it():
    """Label Studio keeps who made an annotation in `completed_by`, and who saved it last in `updated_by`."""
    people = {3: "alice@localhost", 4: "bob@localhost"}
    assert read_annotation(TASK, ANNOTATION | {"updated_by": 4}, people, "s").reviewer == "bob@localhost"
    assert read_annotation(TASK, ANNOTATION | {"updated_by": {"id": 4}}, people, "s").reviewer == "bob@localhost"
    assert read_annotation(TASK, ANNOTATION | {"updated_by": 3}, people, "s").reviewer == "alice@localhost"
    assert read_annotation(TASK, ANNOTATION | {"updated_by": None}, people, "s").reviewer == "alice@localhost"


def test_an_annotation_that_was_imported_for_somebody_is_theirs():
    """Whoever imports annotations through the API is `updated_by` from the first moment on."""
    made = {"updated_by": 4, "created_at": "2026-11-21T10:00:00.249900Z"}
    assert read_annotation(TASK, ANNOTATION | made, {3: "alice@localhost"}, "s").reviewer == "alice@localhost"


def test_a_time_without_a_zone_is_read_as_utc_and_the_first_saving_serves_where_no_later_one_is_known():
    pulled = read_annotation(TASK, ANNOTATION | {"updated_at": None, "created_at": "2026-11-21T09:00:00"}, {}, "s")
    assert pulled.reviewed_at.isoformat() == "2026-11-21T09:00:00+00:00"


@pytest.mark.parametrize(
    ("task", "annotation", "sentence"),
    [
        (TASK | {"data": {}}, ANNOTATION, "Task 7 of Label Studio has no field 'callwright_key'"),
        (TASK | {"data": {"callwright_key": "x"}}, ANNOTATION, "'data.callwright_key' of task 7 .* holds 'x'"),
        (TASK, ANNOTATION | {"result": "none"}, "'result' of task 7 .* holds 'none'"),
        (TASK, ANNOTATION | {"result": [1]}, "'result' of task 7"),
        (TASK, ANNOTATION | {"updated_at": "noon"}, "'updated_at' of task 7 .* holds 'noon'"),
        (TASK, ANNOTATION | {"completed_by": "x"}, "'completed_by' of task 7"),
        ({}, ANNOTATION, "has no field 'id'"),
    ],
)
def test_data_that_do_not_fit_are_refused_with_task_and_field(task, annotation, sentence):
    with pytest.raises(AnnotationError, match=sentence):
        read_annotation(task, annotation, {}, "s")
