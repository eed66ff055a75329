"""The catalogs of business domains: big, without twins, and full of tools that feed each other."""

from itertools import combinations
from pathlib import Path

import pytest
import yaml

from callwright.flows.catalogs import gather_tools
from callwright.flows.recipe import parse_recipe
from callwright.generators.catalogs.own_catalogs import (
    Domain,
    domain_tools,
    load_domains,
    read_domain,
)
from callwright.generators.kinds import all_kinds
from callwright.generators.routing import GROUP as ROUTING
from callwright.validators.checks.routing import does_the_same
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse

SHARED = {"email": "email", "date": "date", "note": "call first; mind the dog"}
INN = """
name: Inn
composition: {easy: 2, medium: 1, hard: 1}
fields: {bed: soft | hard}
entities:
  visitor: {number: V-##, found by: email, leads: {booked chamber: chamber}}
  chamber: {number: C-##, facts: view, changed: bed, actions: {air: "", lock _ up: note}, new: {verb: let, with: bed, of: visitor}}
"""


@pytest.fixture(params=load_domains(), ids=lambda domain: domain.name)
def domain(request: pytest.FixtureRequest) -> Domain:
    domain: Domain = request.param
    return domain


def test_there_are_ten_domains_with_the_composition_of_the_paper() -> None:
    domains = load_domains()
    assert len(domains) == 10
    for difficulty in ("easy", "medium", "hard"):
        assert (
            sum(one.composition[difficulty] for one in domains)
            == all_kinds()[f"{ROUTING}_{difficulty}"].paper
        )


def test_no_two_tools_of_a_domain_do_the_same(domain: Domain) -> None:
    assert [
        (one.name, other.name)
        for one, other in combinations(domain.tools, 2)
        if does_the_same(one, other)
    ] == []


def test_a_domain_is_expanded_into_what_can_be_found_told_changed_done_and_made() -> None:
    tools = {tool.name: tool for tool in read_domain(yaml.safe_load(INN), SHARED).tools}
    assert {name: tool.description for name, tool in tools.items()} == {
        "findVisitorByEmail": "Find a visitor by email",
        "findBookedChamberOfVisitor": "Find the booked chamber of a visitor",
        "getChamberView": "Look up the view of a chamber",
        "updateChamberBed": "Change the bed of a chamber",
        "airChamber": "Air a chamber",
        "lockChamberUp": "Lock a chamber up",
        "letChamber": "Let a chamber for a visitor",
    }
    assert tools["updateChamberBed"].required == ("chamberNumber", "bed")
    assert tools["letChamber"].returns is not None
    assert list(tools["letChamber"].returns["properties"]) == ["chamberNumber"]


def test_a_recipe_takes_all_domains_or_those_it_names(tmp_path: Path) -> None:
    def names(domains: object) -> set[str]:
        recipe = {"name": "few", "tools": [{"domains": domains}], "samples": {"routing_easy": 1}}
        return {
            tool.category
            for tool in gather_tools(
                parse_recipe(recipe, Path(), "few"), Warehouse(tmp_path / "w.duckdb")
            ).tools
        }

    assert len(names("all")) == 10
    assert names(["Bank", "Hotel"]) == {"Bank", "Hotel"}
    with pytest.raises(
        ConfigurationError, match=r"no domains \['Circus'\]; the domains are Airline, Bank"
    ):
        domain_tools(["Circus"])
