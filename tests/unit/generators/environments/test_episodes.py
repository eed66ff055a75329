"""Episodes in a document's world: what calls write is read, what can't be done is refused,
states are values.
"""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from callwright.generators.environments.document_world import DocumentEpisode, DocumentWorld
from callwright.generators.environments.endpoints import endpoints_of
from callwright.generators.environments.episodes import START, StatefulWorld, diff, loaded, unnamed
from callwright.generators.environments.protocol import Effect
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.records import Call, Change, JsonSchema, Tool
from tests.support.generators.environments.asking_episodes import ask, refusal

TEXT: JsonSchema = {"type": "string"}
ORDER: JsonSchema = {
    "type": "object",
    "title": "Order",
    "properties": {
        "id": {"type": "string", "examples": ["b4Kf92"]},
        "customer_id": {"type": "integer"},
        "item": TEXT,
        "quantity": {"type": "integer", "minimum": 1, "maximum": 90},
        "status": {"type": "string", "enum": ["open", "shipped", "cancelled"]},
        "archived": {"type": "boolean"},
        "address": {"type": "object", "properties": {"city": TEXT, "street": TEXT}},
    },
}
CUSTOMER: JsonSchema = {
    "type": "object",
    "title": "Customer",
    "properties": {"id": {"type": "integer"}, "email": TEXT, "username": TEXT, "city": TEXT},
}


def listed(schema: JsonSchema) -> JsonSchema:
    return {"type": "array", "items": schema}


def tool(
    name: str, returns: JsonSchema | None, required: str = "", **parameters: JsonSchema
) -> Tool:
    """A tool of the shop; `required` names parameters."""
    schema: JsonSchema = {"type": "object", "properties": parameters, "required": required.split()}
    return Tool(name=name, description=name, parameters=schema, returns=returns, category="shop")


ID, NUMBER = TEXT, {"type": "integer"}
FIELDS: dict[str, JsonSchema] = {
    name: ORDER["properties"][name]
    for name in ("customer_id", "item", "quantity", "status", "address")
}
OPERATIONS: dict[str, tuple[str, str, Tool]] = {
    one[2].name: one
    for one in (
        ("get", "/orders", tool("list_orders", listed(ORDER), status=FIELDS["status"])),
        ("post", "/orders", tool("add_order", ORDER, "item", **FIELDS)),
        ("get", "/orders/{id}", tool("get_order", ORDER, "id", id=ID)),
        ("patch", "/orders/{id}", tool("change_order", ORDER, "id", id=ID, **FIELDS)),
        ("delete", "/orders/{id}", tool("remove_order", None, "id", id=ID)),
        ("post", "/orders/{id}/cancel", tool("cancel_order", ORDER, "id", id=ID)),
        ("post", "/orders/{id}/archive", tool("archive_order", ORDER, "id", id=ID)),
        ("delete", "/orders/{id}/archive", tool("restore_order", ORDER, "id", id=ID)),
        ("post", "/orders/{id}/wrap", tool("wrap_order", ORDER, "id", id=ID)),
        ("get", "/customers", tool("list_customers", listed(CUSTOMER))),
        (
            "post",
            "/customers",
            tool("add_customer", CUSTOMER, "username", username=TEXT, email=TEXT),
        ),
        ("get", "/customers/{username}", tool("get_customer", CUSTOMER, "username", username=TEXT)),
        (
            "get",
            "/customers/{customer_id}/orders",
            tool("orders_of", listed(ORDER), "customer_id", customer_id=NUMBER),
        ),
    )
}


def shop(effects: dict[str, Effect] | None = None, *, seed: int = 1) -> DocumentWorld:
    """A shop that has customers and orders."""
    tools = [one[2] for one in OPERATIONS.values()]
    endpoints = endpoints_of(tools, [(method, path) for method, path, _ in OPERATIONS.values()])
    return DocumentWorld("shop", endpoints, (), seed=seed, effects=effects)


SHOP = shop()


@pytest.fixture
def episode() -> DocumentEpisode:
    return SHOP.begin()


def changes(episode: DocumentEpisode) -> list[tuple[str, str, str, JsonValue, JsonValue]]:
    """What has changed since the start, but for the ids."""
    return [
        (one.sort, one.kind, one.field, one.before, one.after) for one in diff(START, episode.state)
    ]


def test_a_world_of_a_document_is_one_that_calls_change() -> None:
    assert isinstance(SHOP, StatefulWorld)
    assert {one for one in OPERATIONS if SHOP.writes(one)} == {
        "add_order",
        "change_order",
        "remove_order",
        "cancel_order",
        "archive_order",
        "restore_order",
        "add_customer",
    }
    assert SHOP.unclear == ("wrap_order",)


def test_a_change_back_is_no_change(episode: DocumentEpisode) -> None:
    order = ask(episode, "list_orders")[0]
    ask(episode, "change_order", id=order["id"], item="Something else")
    assert diff(START, episode.state)
    ask(episode, "change_order", id=order["id"], item=order["item"])
    assert diff(START, episode.state) == ()


def test_between_two_states_only_what_differs_between_them_is_a_change(
    episode: DocumentEpisode,
) -> None:
    order, made = ask(episode, "list_orders")[0], ask(episode, "add_order", item="Lamp")
    for one in (order, made):
        ask(episode, "change_order", id=one["id"], item="Chair", quantity=7)
    before = episode.state
    for one in (order, made):
        ask(episode, "change_order", id=one["id"], quantity=8)
    found = diff(before, episode.state)
    assert {(one.id, one.field, one.before, one.after) for one in found} == {
        (one["id"], "quantity", 7, 8) for one in (order, made)
    }


def test_what_was_made_is_listed_and_read_with_what_it_was_given(episode: DocumentEpisode) -> None:
    customer = ask(episode, "list_customers")[0]
    made = ask(episode, "add_order", item="Lamp", customer_id=customer["id"])
    assert made["item"] == "Lamp"
    assert made["status"] == "open", "where nothing is said, the first choice"
    assert ask(episode, "get_order", id=made["id"]) == made
    assert made in ask(episode, "list_orders", status="open")
    assert made in ask(episode, "orders_of", customer_id=customer["id"])
    (change,) = diff(START, episode.state)
    assert (change.sort, change.kind, change.id) == ("created", "order", made["id"])


def test_what_was_removed_is_gone_from_lists_and_not_found(episode: DocumentEpisode) -> None:
    order = ask(episode, "list_orders", status="shipped")[0]
    ask(episode, "remove_order", id=order["id"])
    assert order["id"] not in [one["id"] for one in ask(episode, "list_orders", status="shipped")]
    assert refusal(episode, "get_order", id=order["id"]) == "not_found"
    assert refusal(episode, "cancel_order", id=order["id"]) == "not_found"
    assert changes(episode) == [("deleted", "order", "", {"id": order["id"]}, None)]


def test_a_verb_below_a_things_path_sets_the_choice_or_the_switch_of_its_name(
    episode: DocumentEpisode,
) -> None:
    order = ask(episode, "list_orders", status="open")[0]
    assert ask(episode, "cancel_order", id=order["id"])["status"] == "cancelled"
    assert ask(episode, "archive_order", id=order["id"])["archived"] is True
    assert ask(episode, "restore_order", id=order["id"])["archived"] is False
    assert ("updated", "order", "status", "open", "cancelled") in changes(episode)


def test_a_verb_that_no_field_tells_changes_nothing_until_its_effect_is_said() -> None:
    episode = SHOP.begin()
    order = ask(episode, "list_orders", status="open")[0]
    ask(episode, "wrap_order", id=order["id"])
    assert not diff(START, episode.state)
    told = shop(
        {"wrap_order": Effect.model_validate({"updates": "order", "sets": {"wrapping": "paper"}})}
    ).begin()
    ask(told, "wrap_order", id=order["id"])
    assert changes(told) == [("updated", "order", "wrapping", None, "paper")]


def test_what_names_a_thing_that_is_not_there_is_not_valid(episode: DocumentEpisode) -> None:
    assert refusal(episode, "add_order", item="Lamp", customer_id=-5) == "invalid_value"
    assert refusal(episode, "add_order", item=["Lamp"]) == "invalid_value"
    assert refusal(episode, "add_order", quantity=2) == "invalid_value"


def test_what_paths_name_a_thing_by_is_given_once(episode: DocumentEpisode) -> None:
    known = ask(episode, "list_customers")[0]["username"]
    assert refusal(episode, "add_customer", username=known) == "conflict"
    ask(episode, "add_customer", username="Somebody New")
    assert refusal(episode, "add_customer", username="Somebody New") == "conflict"


def test_a_field_said_to_be_unique_is_so() -> None:
    effect = {"creates": "customer", "fields": ["username", "email"], "unique": ["email"]}
    episode = shop({"add_customer": Effect.model_validate(effect)}).begin()
    known = ask(episode, "list_customers")[0]["email"]
    assert refusal(episode, "add_customer", username="new", email=known) == "conflict"
    ask(episode, "add_customer", username="new", email="new@example.org")
    assert refusal(episode, "add_customer", username="newer", email="new@example.org") == "conflict"


def test_episodes_see_nothing_of_each_other_and_builds_see_nothing_of_episodes(
    episode: DocumentEpisode,
) -> None:
    order = ask(episode, "list_orders")[0]
    ask(episode, "remove_order", id=order["id"])
    assert ask(SHOP.begin(), "get_order", id=order["id"]) == order


def test_the_order_of_calls_that_do_not_touch_is_free(episode: DocumentEpisode) -> None:
    orders = ask(episode, "list_orders")
    steps = [
        ("add_order", {"item": "Lamp"}),
        ("add_order", {"item": "Chair"}),
        ("cancel_order", {"id": orders[0]["id"]}),
        ("remove_order", {"id": orders[1]["id"]}),
    ]
    ends = []
    for order in (steps, steps[::-1]):
        other = SHOP.begin()
        for name, arguments in order:
            ask(other, name, **arguments)
        ends.append(other.state)
    assert diff(*ends) == ()
    assert [ask(other, "list_orders") for other in (episode,)]


def test_ends_are_alike_where_the_same_was_made_under_other_ids() -> None:
    one, other = SHOP.begin(), SHOP.begin()
    ask(one, "add_order", item="Lamp", quantity=2)
    wrong = ask(other, "add_order", item="Lamp", quantity=1)
    ask(other, "change_order", id=wrong["id"], quantity=2)
    assert diff(one.state, other.state)
    assert unnamed(diff(START, one.state)) == unnamed(diff(START, other.state))


def test_ends_differ_where_what_was_made_refers_to_another_made_thing() -> None:
    def lent(book: str) -> tuple[str, ...]:
        made = [
            ("author", "a1", {"name": "Ann"}),
            ("author", "a2", {"name": "Bo"}),
            ("book", "b1", {"author_id": "a1"}),
            ("book", "b2", {"author_id": "a2"}),
            ("loan", "l1", {"book_id": book}),
        ]
        return unnamed(
            Change(sort="created", kind=kind, id=id_, after=of) for kind, id_, of in made
        )

    assert lent("b1") != lent("b2")


@pytest.mark.parametrize(
    ("name", "effect", "words"),
    [
        ("cancel_ordr", {"reads": True}, "'cancel_ordr'.* Did you mean cancel_order"),
        ("get_order", {"deletes": "order", "id": "id"}, "'get_order'.*GET changes nothing"),
        ("wrap_order", {"updates": "order", "id": "number"}, "'wrap_order'.*no parameter 'number'"),
        (
            "wrap_order",
            {"updates": "parcel", "id": "id"},
            "'wrap_order'.*'parcel'; kinds are customer, order",
        ),
        (
            "wrap_order",
            {"updates": "order", "sets": {"status": "wrapped"}},
            "'wrap_order'.*status.*does not allow",
        ),
        (
            "change_order",
            {"updates": "order", "fields": ["status"], "sets": {"status": "open"}},
            "'change_order'.*status is set by `sets` and by a parameter",
        ),
        ("add_customer", {"updates": "order"}, "'add_customer'.*not known which order it updates"),
    ],
)
def test_effects_that_contradict_the_document_are_refused_with_the_tools_name(
    name: str, effect: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words):
        shop({name: Effect.model_validate(effect)})


@pytest.mark.parametrize(
    "effect",
    [
        {},
        {"creates": "a", "deletes": "b"},
        {"deletes": "a", "sets": {"b": 1}},
        {"reads": True, "id": "x"},
    ],
)
def test_an_effect_is_one_thing(effect: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"reads|deletes"):
        Effect.model_validate(effect)


def test_tools_that_only_have_names_change_what_is_said() -> None:
    tools = [
        tool("add_note", {"type": "object", "properties": {"note_id": TEXT}}, "text", text=TEXT),
        tool(
            "read_note",
            {"type": "object", "properties": {"note_id": TEXT, "text": TEXT}},
            "note_id",
            note_id=TEXT,
        ),
        tool("drop_note", None, "note_id", note_id=TEXT),
    ]
    stated = {
        "add_note": Effect.model_validate({"creates": "note", "fields": ["text"]}),
        "drop_note": Effect.model_validate({"deletes": "note", "id": "note_id"}),
    }
    episode = DocumentWorld(
        "notes", endpoints_of(tools, [("", "")] * 3), (), effects=stated
    ).begin()
    made = ask(episode, "add_note", text="Buy milk")
    assert ask(episode, "read_note", note_id=made["note_id"])["text"] == "Buy milk"
    ask(episode, "drop_note", note_id=made["note_id"])
    assert diff(START, episode.state) == ()
    assert refusal(episode, "read_note", note_id=made["note_id"]) == "not_found"


def test_lists_have_all_that_there_is_in_pages_and_tell_how_many() -> None:
    orders: JsonSchema = {
        "type": "object",
        "properties": {"orders": listed(ORDER), "total": NUMBER},
    }
    search = tool(
        "search_orders", orders, status=FIELDS["status"], limit=NUMBER, offset=NUMBER, page=NUMBER
    )
    tools = [search, OPERATIONS["get_order"][2], OPERATIONS["remove_order"][2]]
    paths = [("get", "/orders"), ("get", "/orders/{id}"), ("delete", "/orders/{id}")]
    episode = DocumentWorld("shop", endpoints_of(tools, paths), ()).begin()
    whole = ask(episode, "search_orders")
    assert len(whole["orders"]) == whole["total"] == 24
    pages = [ask(episode, "search_orders", limit=10, page=page) for page in (1, 2, 3)]
    assert [one for page in pages for one in page["orders"]] == whole["orders"]
    assert ask(episode, "search_orders", limit=5, offset=20)["orders"] == whole["orders"][20:]
    opened = ask(episode, "search_orders", status="open", limit=1)
    assert opened["total"] == len([one for one in whole["orders"] if one["status"] == "open"])
    ask(episode, "remove_order", id=whole["orders"][0]["id"])
    assert ask(episode, "search_orders", limit=1)["total"] == 23


def test_episodes_that_are_gone_leave_nothing_behind() -> None:
    world = shop()

    def held() -> list[int]:
        population = world.population(world.seed)
        return [
            len(vars(one)[name])
            for one in (world, world.kinds, population)
            for name in sorted(vars(one))
            if _is_sized(vars(one)[name])
        ]

    counts = []
    for number in range(90):
        episode = world.begin()
        made = ask(episode, "add_order", item=f"Lamp {number}", quantity=number % 80 + 1)
        ask(episode, "change_order", id=made["id"], item=f"Chair {number}")
        ask(episode, "cancel_order", id=ask(episode, "list_orders")[number % 20]["id"])
        episode.answer(Call(tool="get_order", arguments={"id": f"never{number}"}))
        counts.append(held())
    assert counts[-1] == counts[60]


def _is_sized(value: object) -> bool:
    return isinstance(value, dict)


IDS = [one["id"] for one in ask(SHOP.begin(), "list_orders")] + ["never1"]
ids = st.sampled_from(IDS)
items, numbers = st.sampled_from(["Lamp", "Chair", ""]), st.integers(0, 4)
CALLS: st.SearchStrategy[Call] = st.one_of(
    *(
        st.builds(
            lambda given, name=name: Call(tool=name, arguments=given),
            st.fixed_dictionaries(needed, optional=more),
        )
        for name, needed, more in (
            ("add_order", {"item": items}, {"quantity": numbers}),
            (
                "change_order",
                {"id": ids},
                {
                    "item": items,
                    "quantity": numbers,
                    "status": st.sampled_from(["open", "shipped"]),
                },
            ),
            ("remove_order", {"id": ids}, {}),
            ("cancel_order", {"id": ids}, {}),
            ("list_orders", {}, {}),
            ("add_customer", {"username": items}, {}),
        )
    )
)
sequences = st.lists(CALLS, max_size=6)


@pytest.mark.parametrize("property_", ["pure", "restored", "diffed", "dumped"])
@settings(max_examples=60, deadline=None)
@given(first=sequences, second=sequences)
def test_states_are_values(property_: str, first: list[Call], second: list[Call]) -> None:
    run: Callable[[list[Call]], tuple[DocumentEpisode, list[Any]]] = lambda calls: (  # noqa: E731
        episode := SHOP.begin(),
        [episode.answer(call) for call in calls],
    )
    (one, answers), (other, _) = run(first), run(second)
    match property_:
        case "pure":
            again, repeated = run(first)
            assert (again.state, repeated) == (one.state, answers)
        case "restored":
            kept = one.snapshot()
            after = [one.answer(call) for call in second]
            one.restore(kept)
            assert one.state == kept
            assert [one.answer(call) for call in second] == after
        case "diffed":
            assert (diff(one.state, other.state) == ()) == (one.state.things == other.state.things)
            back = diff(other.state, one.state)
            assert len(back) == len(diff(one.state, other.state))
        case "dumped":
            assert loaded(one.state.dumped()) == one.state


@settings(max_examples=60, deadline=None)
@given(sequences)
def test_reads_see_the_last_write(calls: list[Call]) -> None:
    episode = SHOP.begin()
    for call in calls:
        found = episode.answer(call)
        if found.problem or call.tool not in ("add_order", "change_order", "cancel_order"):
            continue
        assert isinstance(found.response, dict)
        assert ask(episode, "get_order", id=found.response["id"]) == found.response
        for name, value in call.arguments.items():
            assert found.response[name] == value
