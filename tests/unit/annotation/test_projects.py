from hypothesis import given
from hypothesis import strategies as st

from annotation.studio.records import config_print, description_of, is_changed_by_hand, kind_of, surplus


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


def test_of_doubles_the_oldest_stays_and_what_people_annotated_always_does():
    assert surplus({"a": [(1, 0), (2, 0)]}) == [2]
    assert surplus({"a": [(1, 0), (2, 1)]}) == [1]
    assert surplus({"a": [(1, 1), (2, 1)], "b": [(3, 0)]}) == []


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(0, 2)), min_size=1, unique_by=lambda task: task[0]))
def test_a_key_keeps_all_that_was_annotated_and_at_least_one_task(tasks):
    kept = {task for task, _ in tasks} - set(surplus({"key": tasks}))
    annotated = {task for task, annotations in tasks if annotations}
    assert kept == (annotated or {min(task for task, _ in tasks)})


@given(st.text(), st.text())
def test_two_interfaces_have_two_prints(one, other):
    same = one.strip().splitlines() == other.strip().splitlines()
    assert (config_print(one) == config_print(other)) == same
