"""What comes from a Label Studio as records: annotations, projects by their marks, refusals in
our words.
"""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callwright.annotation.studio.client import read_list
from callwright.annotation.studio.connection import MissingError, refusal
from callwright.annotation.studio.records import (
    description_of,
    is_changed_by_hand,
    kind_of,
    read_annotation,
    read_tasks,
    surplus,
)
from callwright.warehouse.errors import AnnotationError

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


def test_an_annotation_that_somebody_else_changed_is_the_word_of_whoever_changed_it():
    """Label Studio keeps who made an annotation in `completed_by`, and who saved it last in
    `updated_by`.
    """
    people = {3: "alice@localhost", 4: "bob@localhost"}
    assert (
        read_annotation(TASK, ANNOTATION | {"updated_by": 4}, people, "s").reviewer
        == "bob@localhost"
    )
    assert (
        read_annotation(TASK, ANNOTATION | {"updated_by": {"id": 4}}, people, "s").reviewer
        == "bob@localhost"
    )
    assert (
        read_annotation(TASK, ANNOTATION | {"updated_by": 3}, people, "s").reviewer
        == "alice@localhost"
    )
    assert (
        read_annotation(TASK, ANNOTATION | {"updated_by": None}, people, "s").reviewer
        == "alice@localhost"
    )


@pytest.mark.parametrize(
    ("task", "annotation", "sentence"),
    [
        (TASK | {"data": {}}, ANNOTATION, "Task 7 of Label Studio has no field 'callwright_key'"),
        (
            TASK | {"data": {"callwright_key": "x"}},
            ANNOTATION,
            "'data.callwright_key' of task 7 .* holds 'x'",
        ),
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


def test_a_project_is_known_by_its_mark_and_not_by_its_title():
    described = description_of("sample_review", "<View/>")
    assert kind_of(described) == "sample_review"
    assert kind_of(described.replace("\n", "\r\n")) == "sample_review"
    assert kind_of("callwright is nice") == ""
    assert kind_of(None) == ""


def test_a_changed_interface_is_told_from_our_own():
    described = description_of("sample_review", "<View>\n</View>")
    assert not is_changed_by_hand(described, "<View>\r\n</View>\n")
    assert is_changed_by_hand(described, "<View><Text/></View>")
    assert not is_changed_by_hand("somebody else's", "<View/>")


@given(
    st.lists(
        st.tuples(st.integers(1, 99), st.integers(0, 2)), min_size=1, unique_by=lambda task: task[0]
    )
)
def test_a_key_keeps_all_that_was_annotated_and_at_least_one_task(tasks):
    kept = {task for task, _ in tasks} - set(surplus({"key": tasks}))
    annotated = {task for task, annotations in tasks if annotations}
    assert kept == (annotated or {min(task for task, _ in tasks)})


def told(body: object, status: int = 400) -> str:
    error = refusal("http://x", status, body)
    assert isinstance(error, AnnotationError)
    return str(error).removeprefix(f"The Label Studio at http://x refused ({status}): ")


@pytest.mark.parametrize(
    ("errors", "sentence"),
    [
        ({"label_config": ["Bad tag."]}, "Validation error: label_config: Bad tag."),
        (
            {"non_field_errors": ["Error at item 0: no key"]},
            "Validation error: Error at item 0: no key.",
        ),
        ({"a": {"b": ["x", "y"]}, "c": []}, "Validation error: a: b: x; y."),
        (["one", {"two": "2"}], "Validation error: one; two: 2."),
        (None, "Validation error."),
    ],
)
def test_what_was_wrong_with_which_field_is_told(errors, sentence):
    assert told({"detail": "Validation error", "validation_errors": errors}) == sentence


def test_what_is_not_there_is_an_error_of_its_own():
    assert isinstance(
        refusal("http://x", 404, {"detail": "No Task matches the given query."}), MissingError
    )
    assert not isinstance(refusal("http://x", 404, "<html>"), MissingError)


@pytest.mark.parametrize(
    "wrong",
    [
        {"annotations": 7},
        {"annotations": "abc"},
        {"drafts": 2.5},
        {"annotations": [ANNOTATION | {"lead_time": "long"}]},
        {"annotations": [ANNOTATION | {"lead_time": [1]}]},
    ],
)
def test_an_export_that_does_not_fit_is_a_problem_of_its_task(wrong):
    other = {
        "id": 8,
        "data": {"callwright_key": "sample_review:def:1"},
        "annotations": [ANNOTATION | {"id": 71}],
    }
    held = read_tasks([TASK | wrong, other], {}, "http://127.0.0.1:1")
    assert [one.task_id for one in held.annotations] == [8]
    [problem] = held.problems
    assert "task 7" in problem


@given(
    st.lists(
        st.dictionaries(
            st.text(max_size=3), st.text(max_size=40) | st.lists(st.integers()), max_size=3
        ),
        max_size=6,
    ),
    st.integers(1, 60),
    st.sampled_from([None, 2]),
)
def test_a_list_that_comes_in_pieces_is_read_as_a_whole_one(members, size, indent):
    body = json.dumps(members, ensure_ascii=False, indent=indent).encode()
    assert list(read_list(body[at : at + size] for at in range(0, len(body), size))) == members


@pytest.mark.parametrize(
    "body",
    ["", "[", '[{"id": 1}', '[{"id": 1},', '[{"id": 1}, {"id"', "<html>", '{"detail": "no"}'],
)
def test_a_list_that_ends_too_early_or_is_none_is_told(body):
    with pytest.raises(ValueError, match=r"."):
        list(read_list([body.encode()]))
