"""What calls do to many things, to what belongs to a thing, and to what things have of each
other.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callwright.generators.catalogs.catalog import StatedError
from callwright.generators.environments.document_world import DocumentEpisode, DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.episodes import START, diff, loaded, unnamed
from callwright.generators.environments.protocol import Effect
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, JsonSchema, Tool
from tests.support.generators.environments.asking_episodes import ask, refusal

TEXT: JsonSchema = {"type": "string"}
NUMBER: JsonSchema = {"type": "integer"}


def thing(name: str, /, **fields: JsonSchema) -> JsonSchema:
    return {"type": "object", "title": name, "properties": {"id": NUMBER, **fields}}


def listed(schema: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": schema}


PROJECT = thing("Project", name=TEXT)
TASK = thing(
    "Task", project_id=NUMBER, title=TEXT, status={"type": "string", "enum": ["open", "done"]}
)
COMMENT = thing("Comment", task_id=NUMBER, text=TEXT)
TAG = thing("Tag", name=TEXT)
MEMBER = thing("Member", name=TEXT)
NEW_TASKS = listed({"type": "object", "properties": {"title": TEXT, "project_id": NUMBER}})
MOVED = listed(
    {
        "type": "object",
        "properties": {"id": NUMBER, "status": TASK["properties"]["status"]},
        "required": ["id"],
    }
)
OPERATIONS: list[tuple[str, JsonSchema | None, dict[str, JsonSchema]]] = [
    ("GET /projects list_projects", listed(PROJECT), {}),
    ("GET /projects/{project_id} get_project", PROJECT, {"project_id": NUMBER}),
    ("DELETE /projects/{project_id} delete_project", None, {"project_id": NUMBER}),
    ("GET /projects/{project_id}/tasks tasks_of", listed(TASK), {"project_id": NUMBER}),
    ("GET /tasks list_tasks", listed(TASK), {}),
    ("GET /tasks/{task_id} get_task", TASK, {"task_id": NUMBER}),
    ("POST /tasks/bulk add_tasks", listed(TASK), {"body": NEW_TASKS}),
    ("PATCH /tasks move_tasks", listed(TASK), {"body": MOVED}),
    ("DELETE /tasks drop_tasks", None, {"ids": listed(NUMBER)}),
    ("DELETE /tasks/{task_id} delete_task", None, {"task_id": NUMBER}),
    ("GET /tasks/{task_id}/comments comments_of", listed(COMMENT), {"task_id": NUMBER}),
    ("POST /comments add_comment", COMMENT, {"task_id": NUMBER, "text": TEXT}),
    ("GET /comments/{comment_id} get_comment", COMMENT, {"comment_id": NUMBER}),
    ("GET /tags list_tags", listed(TAG), {}),
    ("GET /tags/{tag_id} get_tag", TAG, {"tag_id": NUMBER}),
    ("DELETE /tags/{tag_id} delete_tag", None, {"tag_id": NUMBER}),
    ("GET /tasks/{task_id}/tags tags_of", listed(TAG), {"task_id": NUMBER}),
    ("GET /tags/{tag_id}/tasks tasks_with", listed(TASK), {"tag_id": NUMBER}),
    ("PUT /tasks/{task_id}/tags/{tag_id} put_tag", None, {"task_id": NUMBER, "tag_id": NUMBER}),
    ("DELETE /tasks/{task_id}/tags/{tag_id} take_tag", None, {"task_id": NUMBER, "tag_id": NUMBER}),
    ("GET /members list_members", listed(MEMBER), {}),
    ("GET /members/{member_id} get_member", MEMBER, {"member_id": NUMBER}),
    ("GET /projects/{project_id}/members members_of", listed(MEMBER), {"project_id": NUMBER}),
    (
        "POST /projects/{project_id}/add_members add_members",
        None,
        {"project_id": NUMBER, "members": listed(NUMBER)},
    ),
    (
        "POST /projects/{project_id}/remove_member remove_member",
        None,
        {"project_id": NUMBER, "member_id": NUMBER},
    ),
]


def board(
    effects: dict[str, Effect] | None = None, *, refusing: str = "", seed: int = 3
) -> DocumentWorld:
    """A board of projects with tasks; the tool `refusing` declares a 409."""
    tools, operations, errors = [], [], []
    for line, returns, parameters in OPERATIONS:
        method, path, name = line.split()
        schema: JsonSchema = {"type": "object", "properties": parameters, "required": [*parameters]}
        tools.append(
            Tool(name=name, description=name, parameters=schema, returns=returns, category="board")
        )
        operations.append((method, path))
        errors.append(
            (StatedError("409", {"type": "object", "properties": {"reason": TEXT}}),)
            if name == refusing
            else ()
        )
    return DocumentWorld(
        "board", endpoints_of(tools, operations, (), errors), (), seed=seed, effects=effects
    )


BOARD = board()


@pytest.fixture
def episode() -> DocumentEpisode:
    return BOARD.begin()


def ids(things: list[Any]) -> list[int]:
    return [one["id"] for one in things]


def test_everything_that_a_board_does_is_told_by_its_document() -> None:
    assert BOARD.unclear == ()
    assert {
        name: one.model_dump(exclude_defaults=True)
        for name, one in BOARD.effects.by_tool.items()
        if one.each
    } == {
        "add_tasks": {
            "creates": "task",
            "each": "body",
            "fields": {"title": "title", "project_id": "project_id"},
        },
        "move_tasks": {
            "updates": "task",
            "each": "body",
            "id": "id",
            "fields": {"status": "status"},
        },
        "drop_tasks": {"deletes": "task", "each": "ids", "id": "ids", "parts": "deletes"},
        "add_members": {"links": "member", "each": "members", "id": "members", "to": "project_id"},
    }


def test_a_list_of_things_is_made_changed_and_deleted_thing_by_thing(
    episode: DocumentEpisode,
) -> None:
    project = ask(episode, "list_projects")[0]["id"]
    made = ask(
        episode,
        "add_tasks",
        body=[{"title": "Paint", "project_id": project}, {"title": "Sweep", "project_id": project}],
    )
    assert [one["title"] for one in made] == ["Paint", "Sweep"]
    assert {*ids(made)} <= {*ids(ask(episode, "tasks_of", project_id=project))}
    moved = ask(episode, "move_tasks", body=[{"id": one["id"], "status": "done"} for one in made])
    assert moved == [{**one, "status": "done"} for one in made]
    assert ask(episode, "get_task", task_id=made[0]["id"]) == moved[0]
    ask(episode, "drop_tasks", ids=ids(made))
    assert diff(START, episode.state) == ()
    assert refusal(episode, "get_task", task_id=made[0]["id"]) == "not_found"


def test_what_is_done_to_many_is_done_to_all_or_to_none(episode: DocumentEpisode) -> None:
    task = ask(episode, "list_tasks")[0]["id"]
    assert refusal(episode, "drop_tasks", ids=[task, -1]) == "not_found"
    assert (
        refusal(
            episode,
            "move_tasks",
            body=[{"id": task, "status": "done"}, {"id": -1, "status": "done"}],
        )
        == "not_found"
    )
    assert (
        refusal(
            episode, "add_tasks", body=[{"title": "Paint"}, {"title": "Sweep", "project_id": -1}]
        )
        == "invalid_value"
    )
    assert refusal(episode, "drop_tasks", ids=[]) == "invalid_value"


def test_what_belongs_to_a_deleted_thing_is_gone_with_it(episode: DocumentEpisode) -> None:
    project = ask(episode, "list_projects")[0]["id"]
    made = ask(episode, "add_tasks", body=[{"title": "Paint", "project_id": project}])[0]["id"]
    comment = ask(episode, "add_comment", task_id=made, text="Blue")["id"]
    tasks, others = (
        ids(ask(episode, "tasks_of", project_id=project)),
        ids(ask(episode, "list_tasks")),
    )
    ask(episode, "delete_project", project_id=project)
    for task in tasks:
        assert refusal(episode, "get_task", task_id=task) == "not_found"
    assert refusal(episode, "get_comment", comment_id=comment) == "not_found", (
        "also what belongs to that"
    )
    assert refusal(episode, "tasks_of", project_id=project) == "not_found"
    assert {*ids(ask(episode, "list_tasks"))} == {*others} - {*tasks}
    deleted = {(one.kind, one.id) for one in diff(START, episode.state)}
    assert {("task", str(one)) for one in tasks if one != made} < deleted
    assert {one.sort for one in diff(START, episode.state)} == {"deleted"}


def test_where_the_document_declares_a_conflict_what_still_has_parts_is_not_deleted() -> None:
    episode = board(refusing="delete_task").begin()
    task = ask(episode, "list_tasks")[0]["id"]
    found = episode.answer(Call(tool="delete_task", arguments={"task_id": task}))
    assert (found.error, found.response) == (
        "conflict",
        {"reason": found.problem.removeprefix("409: ")},
    )
    bare = ask(episode, "add_tasks", body=[{"title": "Paint"}])[0]["id"]
    ask(episode, "delete_task", task_id=bare)
    assert refusal(episode, "get_task", task_id=bare) == "not_found"


def test_an_effect_may_keep_what_belongs_to_a_thing() -> None:
    episode = board({"delete_task": Effect(deletes="task", parts="keeps")}).begin()
    task = ask(episode, "list_tasks")[0]["id"]
    comment = ask(episode, "comments_of", task_id=task)[0]["id"]
    ask(episode, "delete_task", task_id=task)
    assert ask(episode, "get_comment", comment_id=comment)["id"] == comment


def test_a_relation_is_put_and_taken_and_read_from_both_sides(episode: DocumentEpisode) -> None:
    task = ask(episode, "list_tasks")[0]["id"]
    held = ids(ask(episode, "tags_of", task_id=task))
    tag = next(one for one in ids(ask(episode, "list_tags")) if one not in held)
    ask(episode, "put_tag", task_id=task, tag_id=tag)
    assert ids(ask(episode, "tags_of", task_id=task)) == [*held, tag]
    assert task in ids(ask(episode, "tasks_with", tag_id=tag))
    assert ask(episode, "get_tag", tag_id=tag)["id"] == tag, "the thing itself is as it was"
    (change,) = diff(START, episode.state)
    assert (change.sort, change.kind, change.after) == (
        "created",
        "tag task",
        {"tag_id": str(tag), "task_id": str(task)},
    )
    ask(episode, "put_tag", task_id=task, tag_id=tag)
    assert len(diff(START, episode.state)) == 1, "what is there stays"
    ask(episode, "take_tag", task_id=task, tag_id=tag)
    assert diff(START, episode.state) == ()
    assert refusal(episode, "take_tag", task_id=task, tag_id=tag) == "not_found"
    assert refusal(episode, "put_tag", task_id=task, tag_id=-1) == "not_found"


def test_ends_are_alike_where_the_same_was_put_to_things_of_other_ids() -> None:
    ends = []
    for titles in (["Paint"], ["Sweep", "Paint"]):
        episode = BOARD.begin()
        project, tag = ask(episode, "list_projects")[0]["id"], ask(episode, "list_tags")[0]["id"]
        made = ids(
            ask(
                episode, "add_tasks", body=[{"title": one, "project_id": project} for one in titles]
            )
        )
        ask(episode, "put_tag", task_id=made[-1], tag_id=tag)
        if len(made) > 1:
            ask(episode, "drop_tasks", ids=made[:1])
        ends.append(unnamed(diff(START, episode.state)))
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    ("name", "effect", "words"),
    [
        (
            "add_tasks",
            {"creates": "task", "each": "tasks"},
            "'add_tasks'.*`each` names 'tasks', which is not a list",
        ),
        (
            "add_tasks",
            {"creates": "task", "each": "body", "fields": ["colour"]},
            "no parameter 'colour'; its parameters are body, title",
        ),
        (
            "put_tag",
            {"links": "tag", "id": "tag_id", "to": "board_id"},
            "'put_tag'.*no parameter 'board_id'",
        ),
        (
            "drop_tasks",
            {"unlinks": "tag", "id": "ids"},
            "'drop_tasks'.*not known whose tag it unlinks",
        ),
        (
            "delete_tag",
            {"deletes": "tag", "parts": "keeps"},
            "'delete_tag'.*no path shows that a tag has parts",
        ),
    ],
)
def test_effects_that_contradict_the_document_are_refused(
    name: str, effect: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        board({name: Effect.model_validate(effect)})


@pytest.mark.parametrize(
    "effect",
    [{"reads": True, "each": "x"}, {"creates": "a", "to": "b"}, {"updates": "a", "parts": "keeps"}],
)
def test_an_effect_says_only_what_goes_with_its_deed(effect: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"what (reads|creates|updates)"):
        Effect.model_validate(effect)


PROJECTS = [*ids(ask(BOARD.begin(), "list_projects"))[:2], -1]
TASKS = [
    *ids(ask(BOARD.begin(), "tasks_of", project_id=PROJECTS[0])),
    *ids(ask(BOARD.begin(), "list_tasks"))[:2],
    -1,
]
TAGS = [
    *ids(ask(BOARD.begin(), "tags_of", task_id=TASKS[0])),
    ids(ask(BOARD.begin(), "list_tags"))[0],
]
project, task, tag, title = map(st.sampled_from, (PROJECTS, TASKS, TAGS, ["Paint", "Sweep"]))
task_lists = st.lists(task, min_size=1, max_size=2)
CALLS: st.SearchStrategy[Call] = st.one_of(
    *(
        st.builds(
            lambda given, name=name: Call(tool=name, arguments=given),
            st.fixed_dictionaries(parameters),
        )
        for name, parameters in (
            (
                "add_tasks",
                {
                    "body": st.lists(
                        st.fixed_dictionaries({"title": title, "project_id": project}), max_size=2
                    )
                },
            ),
            (
                "move_tasks",
                {
                    "body": st.lists(
                        st.fixed_dictionaries({"id": task, "status": st.just("done")}), max_size=2
                    )
                },
            ),
            ("drop_tasks", {"ids": task_lists}),
            ("delete_project", {"project_id": project}),
            ("delete_tag", {"tag_id": tag}),
            ("put_tag", {"task_id": task, "tag_id": tag}),
            ("take_tag", {"task_id": task, "tag_id": tag}),
            ("tasks_of", {"project_id": project}),
            ("tags_of", {"task_id": task}),
        )
    )
)
sequences = st.lists(CALLS, max_size=6)


def run(calls: list[Call]) -> tuple[DocumentEpisode, list[Any]]:
    """A new episode after calls, and what they were answered."""
    episode = BOARD.begin()
    return episode, [episode.answer(call) for call in calls]


@pytest.mark.parametrize("property_", ["pure", "restored", "diffed", "dumped", "refused"])
@settings(max_examples=50, deadline=None)
@given(first=sequences, second=sequences)
def test_states_are_values(property_: str, first: list[Call], second: list[Call]) -> None:
    (one, answers), (other, _) = run(first), run(second)
    match property_:
        case "pure":
            again, repeated = run(first)
            assert (again.state, repeated) == (one.state, answers)
        case "restored":
            kept = one.snapshot()
            after = [one.answer(call) for call in second]
            one.restore(kept)
            assert [one.answer(call) for call in second] == after
        case "diffed":
            assert (diff(one.state, other.state) == ()) == (one.state.things == other.state.things)
        case "dumped":
            assert loaded(one.state.dumped()) == one.state
        case "refused":
            state, found = START, BOARD.begin()
            for call in first:
                answer = found.answer(call)
                assert (answer.problem == "") or found.state == state
                state = found.state
