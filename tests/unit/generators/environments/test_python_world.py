"""Worlds that are written in Python: tools out of signatures, states that go back exactly,
refusals that keep nothing.
"""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from callwright.generators.environments.episodes import (
    START,
    RefusalError,
    StatefulWorld,
    diff,
    loaded,
    world_of,
)
from callwright.generators.environments.protocol import WorldSettings
from callwright.generators.environments.python_world import (
    PythonEnvironment,
    PythonWorld,
    reads,
    writes,
)
from callwright.warehouse.errors import ConfigurationError, RecordError
from callwright.warehouse.records import Call


class Account(BaseModel):
    """An account with money in it."""

    owner: str
    amount: int = 0


class Ledger(BaseModel):
    """Accounts, and how many there were ever."""

    accounts: dict[str, Account]
    opened: int = 2


class Bank(PythonWorld[Ledger, WorldSettings]):
    """A bank."""

    def start(self, rng: Random) -> Ledger:
        """Two accounts."""
        return Ledger(
            accounts={
                "a1": Account(owner="Noor", amount=rng.randint(50, 90)),
                "a2": Account(owner="Kim"),
            }
        )

    @writes
    def move_money(self, source: str, target: str, amount: int = 10) -> Account:
        """Move money from one account to another.

        Args:
            source: The account it is taken from.
        """
        self.state.accounts[source].amount -= amount
        if target not in self.state.accounts:
            raise RefusalError("not_found", f"There is no account {target!r}.")
        if self.state.accounts[source].amount < 0:
            raise RefusalError("conflict", "There is not enough.")
        self.state.accounts[target].amount += amount
        return self.state.accounts[source]

    @writes
    def open_account(self, owner: str) -> str:
        """Open an account."""
        self.state.opened += 1
        self.state.accounts[f"a{self.state.opened}"] = Account(owner=owner)
        return f"a{self.state.opened}"

    @writes
    def close_account(self, account: str) -> None:
        """Close an account."""
        self.state.accounts.pop(account, None)

    @reads
    def show_account(self, account: str) -> Account:
        """Show an account."""
        return self.state.accounts[account]


def bank(written: type[PythonWorld[Any, Any]] = Bank) -> PythonEnvironment:
    return PythonEnvironment(written, WorldSettings.model_validate({"environment": "bank"}))


BANK = bank()


def test_tools_are_the_marked_methods_with_their_types_and_texts() -> None:
    tool = BANK.tools[0]
    assert [one.name for one in BANK.tools] == [
        "move_money",
        "open_account",
        "close_account",
        "show_account",
    ]
    assert (tool.description, tool.category, tool.source) == (
        "Move money from one account to another.",
        "Bank",
        "environment:bank",
    )
    assert tool.required == ("source", "target")
    assert tool.properties["source"] == {
        "type": "string",
        "description": "The account it is taken from.",
    }
    assert tool.properties["amount"] == {"type": "integer", "default": 10}
    assert tool.returns is not None
    assert set(tool.returns["properties"]) == {"owner", "amount"}
    assert [one.name for one in BANK.tools if BANK.writes(one.name)] == [
        "move_money",
        "open_account",
        "close_account",
    ]
    assert isinstance(world_of(BANK), StatefulWorld)


def test_what_is_refused_keeps_nothing_that_the_method_had_done_before() -> None:
    episode = BANK.begin()
    refused = episode.answer(Call(tool="move_money", arguments={"source": "a1", "target": "a9"}))
    assert (refused.error, refused.problem) == ("not_found", "There is no account 'a9'.")
    assert episode.state == START
    assert episode.answer(Call(tool="move_money", arguments={"source": 1})).error == "invalid_value"


def test_changes_are_told_by_kind_id_and_field() -> None:
    episode = BANK.begin(seed=4)
    had = BANK.begin(seed=4).answer(Call(tool="show_account", arguments={"account": "a1"})).response
    assert isinstance(had, dict)
    for tool, arguments in (
        ("move_money", {"source": "a1", "target": "a2"}),
        ("open_account", {"owner": "Ada"}),
        ("close_account", {"account": "a1"}),
    ):
        assert not episode.answer(Call(tool=tool, arguments=arguments)).problem
    told = [
        (one.sort, one.kind, one.id, one.field, one.before, one.after)
        for one in diff(START, episode.state)
    ]
    assert told == [
        ("deleted", "account", "a1", "", had, None),
        ("updated", "account", "a2", "amount", 0, 10),
        ("created", "account", "a3", "", None, {"owner": "Ada", "amount": 0}),
        ("updated", "world", "opened", "value", 2, 3),
    ]


def test_a_state_of_another_world_is_refused() -> None:
    episode = BANK.begin()
    with pytest.raises(RecordError, match="no state of 'bank'"):
        episode.restore(
            loaded(
                {"things": [["account", "a1", {}, {"amount": "much"}]], "counters": {}, "clock": 1}
            )
        )


CALLS = st.one_of(
    st.builds(
        lambda one, other, amount: Call(
            tool="move_money", arguments={"source": one, "target": other, "amount": amount}
        ),
        st.sampled_from(["a1", "a2"]),
        st.sampled_from(["a1", "a2", "a3"]),
        st.integers(0, 60),
    ),
    st.builds(
        lambda owner: Call(tool="open_account", arguments={"owner": owner}),
        st.sampled_from(["Ada", "Bo"]),
    ),
)


@given(st.lists(CALLS, max_size=5), st.lists(CALLS, max_size=5))
def test_a_restored_episode_is_the_one_that_was_kept(first: list[Call], then: list[Call]) -> None:
    episode = BANK.begin()
    answers = [episode.answer(call) for call in first]
    kept = episode.snapshot()
    after, end = [episode.answer(call) for call in then], episode.state
    assert (diff(kept, end) == ()) == (kept.things == end.things)
    episode.restore(loaded(kept.dumped()))
    assert episode.state == kept
    assert [episode.answer(call) for call in then] == after
    again = BANK.begin()
    assert [again.answer(call) for call in first] == answers


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "Odd has no method that is marked"),
        ({"tell": reads(lambda _self, name: name)}, "'name'"),
    ],
)
def test_what_makes_no_tool_is_told_with_class_and_method(body: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        bank(type("Odd", (PythonWorld,), body))
