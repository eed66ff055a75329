"""Calls fit their document's own schema as a whole, and people would give their values."""

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema import FormatChecker

from callwright.generators.catalogs import read_catalog
from callwright.generators.catalogs.choosing import ToolChoice, adapt
from callwright.generators.families import LeftOut, Order
from callwright.generators.kinds import kind_named
from callwright.generators.own_values import NO_VALUES, OwnValues, missing_values, values_block
from callwright.generators.parallel.making import plan_parallel
from callwright.generators.single_turn.making import tool_obstacle
from callwright.generators.tools import argument_problems, call_object, schema_of_call
from callwright.generators.whole_calls import made_problems, rules_of
from callwright.language.calls.parameters import is_plumbing, title_of
from callwright.language.calls.sampling import make_plain, make_value
from callwright.language.schemas import SchemaValidator
from callwright.language.values import read_value, write_value
from callwright.warehouse.errors import ReplyError
from callwright.warehouse.records import Arguments, JsonSchema, Original, Tool

TEXT = {"type": "string"}


def read_tools(path: Path, form: str = "openai") -> list[Tool]:
    return adapt(read_catalog(form, path).tools, ToolChoice())


def case(shared: Path, name: str) -> Tool:
    form = "openapi" if name.startswith("oas_") else "openai"
    (tool,) = read_tools(shared / "cases" / "inputs" / f"{name}.json", form)
    return tool


def drawn(tool: Tool, count: int = 12) -> list[Arguments]:
    calls = [NO_VALUES.fill(tool, tool.required, "en", Random(seed)) for seed in range(count)]
    assert not any(argument_problems(tool, one, partial=False) for one in calls)
    return calls


def obstacle(tool: Tool) -> str:
    return tool_obstacle(Order(kind_named("perfect"), "en", "", 1, [tool], seed=1), tool)


def made_tool(folder: Path, parameters: Any, **more: Any) -> Tool:
    path = folder / "tools.json"
    path.write_text(
        json.dumps([{"name": "do_it", "description": "Do it.", "parameters": parameters, **more}])
    )
    (tool,) = read_tools(path)
    return tool


def body_tool(folder: Path, schema: Any, **schemas: Any) -> Tool:
    content = {"application/json": {"schema": schema}}
    operation = {
        "operationId": "doIt",
        "summary": "Do it.",
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": TEXT}],
        "requestBody": {"required": True, "content": content},
        "responses": {"200": {"description": "ok"}},
    }
    document = {"openapi": "3.0.3", "info": {}, "paths": {"/things/{id}": {"post": operation}}}
    path = folder / "api.json"
    path.write_text(json.dumps({**document, "components": {"schemas": schemas}}))
    (tool,) = read_tools(path, "openapi")
    return tool


def test_no_call_takes_an_alternative_that_needs_what_nobody_says(tmp_path: Path) -> None:
    def parent(kind: str, **id_of: JsonSchema) -> JsonSchema:
        members = {"type": {"const": kind}, **id_of}
        return {"type": "object", "properties": members, "required": list(members)}

    kinds = [parent("page", id=TEXT), parent("database", database_id=TEXT), parent("workspace")]
    body = {"type": "object", "properties": {"parent": {"oneOf": kinds}}, "required": ["parent"]}
    tool = body_tool(tmp_path, body)
    assert tool.plumbing == ("body_id",), "the page's id and the parent's could be swapped"
    calls = drawn(tool, 24)
    assert {one["type"] for one in calls} == {"database", "workspace"}
    assert not any("body_id" in one for one in calls)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tool_recursive_req", "names no members"),
        ("oas_recursive_only", "names no members"),
        ("tool_deep", "nests more than"),
        ("tool_jsonvalue", "Nothing tells what people give for 'value'"),
    ],
)
def test_a_tool_without_a_finite_value_is_told_before_a_build(
    shared: Path, name: str, reason: str
) -> None:
    assert reason in obstacle(case(shared, name))


def test_the_original_schema_refuses_what_the_cut_one_takes(shared: Path) -> None:
    tool = case(shared, "tool_recursive_req")
    call: Arguments = {"head": {"next": {"note": "as before"}}, "name": "Comet"}
    assert tool.original is not None
    assert argument_problems(tool, call, partial=False)
    assert argument_problems(tool, {"head": call["head"]}, partial=True)


def test_a_parameter_of_signs_is_said_by_its_description(shared: Path) -> None:
    tool = case(shared, "tool_param_ref")
    assert title_of("$ref", tool.properties["$ref"], "en") == "reference number"
    assert not obstacle(tool)
    assert all(str(call["$ref"]).isalnum() or "-" in str(call["$ref"]) for call in drawn(tool))


def test_a_tuple_is_made_place_by_place(shared: Path) -> None:
    for call in drawn(case(shared, "tool_tuple_items")):
        points = [call["start"], call["end"]]
        assert all(isinstance(point, list) and len(point) == 2 for point in points)


@pytest.mark.parametrize(
    ("bounds", "count"),
    [({}, 2), ({"minItems": 3}, 3), ({"maxItems": 1}, 1), ({"items": False}, 2)],
)
def test_a_tuple_has_as_many_items_as_its_bounds_want(bounds: JsonSchema, count: int) -> None:
    number: JsonSchema = {"type": "number"}
    pair: JsonSchema = {"type": "array", "prefixItems": [number, number], "items": number, **bounds}
    for seed in range(5):
        for make in (make_value, make_plain):
            made = make("pair", pair, "en", Random(seed))
            assert isinstance(made, list)
            assert [isinstance(one, int | float) for one in made] == [True] * count


def test_tuples_and_maps_are_read_as_they_are_written(shared: Path) -> None:
    for name in ("tool_tuple_items", "tool_addprops_map"):
        tool = case(shared, name)
        for call in drawn(tool, 6):
            for one, value in call.items():
                schema = tool.properties[one]
                said = write_value(value, schema, "en", Random(1))
                assert read_value(said, schema) == value, said


def test_what_may_be_a_text_or_a_number_is_a_word(shared: Path) -> None:
    for call in drawn(case(shared, "tool_type_list")):
        assert isinstance(call["room"], int) or not str(call["room"]).isdecimal()


def test_patterns_that_look_ahead_have_values(shared: Path) -> None:
    for call in drawn(case(shared, "tool_pattern_lookahead")):
        password = str(call["password"])
        assert any(map(str.isupper, password))
        assert any(map(str.isdigit, password))
        assert str(call["nick"]).isalpha()


def test_the_keys_of_a_map_are_drawn(shared: Path) -> None:
    keys = {key for call in drawn(case(shared, "tool_addprops_map"), 20) for key in call["labels"]}  # type: ignore[union-attr]
    assert len(keys) > 3
    assert "note" not in keys


def test_what_a_condition_requires_is_given(shared: Path) -> None:
    calls = drawn(case(shared, "tool_dep_required"))
    assert {call["delivery"] for call in calls} == {True, False}
    assert all("address" in call for call in calls if call["delivery"])


def test_a_parameter_without_a_name_is_never_chosen(shared: Path) -> None:
    tool = case(shared, "tool_empty_key")
    assert tool.choosable == ("name",)


@pytest.mark.parametrize(
    ("name", "fixed"), [("oas_header_auth", {"session"}), ("oas_underscore", {"_"})]
)
def test_what_programs_send_is_a_constant(shared: Path, name: str, fixed: set[str]) -> None:
    tool = case(shared, name)
    assert tool.constants.keys() == fixed
    assert tool.choosable == ("city",)
    assert all(tool.constants.values())


def test_a_key_that_all_operations_take_is_a_constant(tmp_path: Path) -> None:
    key = {"type": "string", "description": "a valid API key"}
    schema = {"type": "object", "required": ["key", "tag"], "properties": {"key": key, "tag": TEXT}}
    tool = body_tool(tmp_path, schema)
    assert tool.constants.keys() == {"key"}
    assert "key" not in tool.properties
    setting = {**TEXT, "description": "Name of the setting"}
    assert not made_tool(tmp_path, {"type": "object", "properties": {"key": setting}}).plumbing


def test_one_alternative_of_a_body_is_given_whole(tmp_path: Path) -> None:
    def parent(kind: str) -> Any:
        members = {"type": {"const": kind}, kind: {"type": "string", "format": "uuid"}}
        return {"type": "object", "required": ["type", kind], "properties": members}

    kinds = [parent(one) for one in ("page_id", "database_id")]
    held = {"type": "object", "required": ["parent"], "properties": {"parent": {"oneOf": kinds}}}
    tool = body_tool(tmp_path, held)
    assert {"type", "page_id", "database_id"} <= {*tool.properties}
    for call in drawn(tool):
        assert call.keys() == {"id", "type", call["type"]}
    assert argument_problems(tool, {"id": "A1", "type": "page_id"}, partial=False)
    assert not argument_problems(tool, {"id": "A1", "type": "page_id"}, partial=True)


def test_a_choice_that_names_a_parameter_has_it_given(tmp_path: Path) -> None:
    properties = {
        "type": {"type": "string", "enum": ["replace", "insert"]},
        "replace": {"type": "object", "required": ["title"], "properties": {"title": TEXT}},
        "insert": {"type": "object", "required": ["title"], "properties": {"title": TEXT}},
    }
    tool = made_tool(tmp_path, {"type": "object", "required": ["type"], "properties": properties})
    assert {frozenset(call) for call in drawn(tool)} == {
        frozenset({"type", "replace"}),
        frozenset({"type", "insert"}),
    }


CARD = {
    "type": "object",
    "required": ["kind", "number"],
    "properties": {"kind": {"const": "card"}, "number": TEXT},
}
IBAN = {
    "type": "object",
    "required": ["kind", "iban"],
    "properties": {"kind": {"const": "iban"}, "iban": TEXT},
}
# sorts of schemas that public bug reports of generators and validators name
IDIOMS: dict[str, Any] = {
    "dependentRequired": {
        "properties": {"card": {**TEXT, "description": "Card number"}, "cvv": TEXT},
        "required": ["card"],
        "dependentRequired": {"card": ["cvv"]},
    },
    "dependentSchemas": {
        "properties": {"city": TEXT, "country": TEXT},
        "required": ["city"],
        "dependentSchemas": {"city": {"required": ["country"]}},
    },
    "oneOf of required names": {
        "properties": {"email": TEXT, "phone": TEXT},
        "oneOf": [{"required": ["email"]}, {"required": ["phone"]}],
    },
    "anyOf with constants": {
        "properties": {
            "city": TEXT,
            "mode": {"enum": ["now", "later"]},
            "date": {**TEXT, "format": "date"},
        },
        "required": ["city", "mode"],
        "anyOf": [
            {"properties": {"mode": {"const": "now"}}},
            {"properties": {"mode": {"const": "later"}}, "required": ["date"]},
        ],
    },
    "not required": {
        "properties": {"email": TEXT, "phone": TEXT},
        "required": ["email"],
        "not": {"required": ["email", "phone"]},
    },
    "if, then and else": {
        "properties": {"country": {"enum": ["US", "FR"]}, "state": TEXT, "city": TEXT},
        "required": ["country"],
        "if": {"properties": {"country": {"const": "US"}}},
        "then": {"required": ["state"]},
        "else": {"required": ["city"]},
    },
    "maxProperties": {
        "properties": {"email": TEXT, "phone": TEXT},
        "minProperties": 1,
        "maxProperties": 1,
    },
    "alternatives inside": {
        "properties": {"source": {"oneOf": [CARD, IBAN]}},
        "required": ["source"],
    },
    "recursion that ends": {
        "properties": {"root": {"$ref": "#/$defs/Node"}},
        "required": ["root"],
        "$defs": {
            "Node": {
                "type": "object",
                "required": ["name", "children"],
                "properties": {
                    "name": TEXT,
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
            }
        },
    },
    "allOf with references": {
        "properties": {"who": {"allOf": [{"$ref": "#/$defs/Named"}, {"required": ["city"]}]}},
        "required": ["who"],
        "$defs": {
            "Named": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": TEXT, "city": TEXT},
            }
        },
    },
    "a filter with alternatives that hold it": {
        "properties": {"filter": {"$ref": "#/$defs/Filter"}},
        "required": ["filter"],
        "$defs": {
            "Filter": {
                "anyOf": [
                    {
                        "type": "object",
                        "required": ["city"],
                        "properties": {"city": TEXT},
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "required": ["and"],
                        "properties": {
                            "and": {
                                "type": "array",
                                "minItems": 1,
                                "items": {"$ref": "#/$defs/Filter"},
                            }
                        },
                        "additionalProperties": False,
                    },
                ]
            }
        },
    },
    "keys by a pattern": {
        "properties": {
            "tags": {
                "type": "object",
                "patternProperties": {"^[a-z]{3,8}$": TEXT},
                "additionalProperties": False,
            }
        },
        "required": ["tags"],
    },
    "one of several flags": {
        "properties": {one: {"type": "boolean"} for one in ("sntp", "timep", "either", "ntp")},
        "oneOf": [{"required": [one]} for one in ("sntp", "timep", "either", "ntp")],
        "additionalProperties": False,
    },
    "a choice that decides what is required": {
        "properties": {"kind": {"enum": ["mail", "call"]}, "email": TEXT, "phone": TEXT},
        "required": ["kind"],
        "anyOf": [
            {"properties": {"kind": {"enum": ["mail"]}}, "required": ["email"]},
            {"properties": {"kind": {"enum": ["call"]}}, "required": ["phone"]},
        ],
    },
    "anyOf within allOf": {
        "properties": {"city": TEXT, "country": TEXT},
        "required": ["city"],
        "allOf": [{"anyOf": [{"required": ["country"]}, {"required": ["city", "country"]}]}],
        "additionalProperties": False,
    },
    "allOf with oneOf": {
        "properties": {"city": TEXT, "is_far": {"type": "boolean"}},
        "allOf": [{"required": ["city"]}, {"oneOf": [{"required": ["is_far"]}]}],
    },
    "alternatives with a member of one name": {
        "properties": {
            "filters": {
                "type": "array",
                "minItems": 1,
                "items": {"oneOf": [{"$ref": "#/$defs/Window"}, {"$ref": "#/$defs/Space"}]},
            }
        },
        "required": ["filters"],
        "$defs": {
            "Window": {
                "type": "object",
                "required": ["params"],
                "properties": {
                    "params": {
                        "type": "object",
                        "required": ["seconds"],
                        "properties": {"seconds": {"type": "number"}},
                        "additionalProperties": False,
                    }
                },
            },
            "Space": {
                "type": "object",
                "required": ["params"],
                "properties": {
                    "params": {
                        "type": "object",
                        "required": ["city"],
                        "properties": {"city": TEXT},
                        "additionalProperties": False,
                    }
                },
            },
        },
    },
    "a condition in each item": {
        "properties": {
            "guests": {
                "type": "array",
                "minItems": 2,
                "items": {
                    "type": "object",
                    "properties": {"meal": {"enum": ["meat", "fish"]}, "email": TEXT},
                    "required": ["meal"],
                    "if": {"properties": {"meal": {"const": "fish"}}},
                    "then": {"required": ["email"]},
                },
            }
        },
        "required": ["guests"],
    },
    "definitions within a parameter": {
        "properties": {
            "role": {
                "$ref": "#/$defs/Filter",
                "$defs": {
                    "Filter": {
                        "type": "object",
                        "required": ["city"],
                        "properties": {"city": TEXT, "of": {"$ref": "#/$defs/Filter"}},
                    }
                },
            }
        },
        "required": ["role"],
        "$defs": {"Filter": {"type": "object", "required": ["city"], "properties": {"city": TEXT}}},
    },
    "a pattern with lengths": {
        "properties": {
            "reference": {**TEXT, "pattern": "^[a-z]+$", "minLength": 20, "maxLength": 24}
        },
        "required": ["reference"],
    },
    "a text of an exact form": {
        "properties": {
            "order_id": {**TEXT, "pattern": "^[0-9A-HJKMNP-TV-Z]{26}$", "maxLength": 26}
        },
        "required": ["order_id"],
    },
    "a short code": {
        "properties": {"country_code": {**TEXT, "minLength": 2, "maxLength": 3}},
        "required": ["country_code"],
    },
    "moments and times": {
        "properties": {
            "start": {**TEXT, "format": "date-time"},
            "clock": {**TEXT, "format": "time"},
            "email": {**TEXT, "format": "email"},
            "key_id": {**TEXT, "format": "uuid"},
        },
        "required": ["start", "clock", "email", "key_id"],
    },
    "unevaluatedProperties": {
        "allOf": [{"properties": {"city": TEXT}, "required": ["city"]}],
        "properties": {"date": {**TEXT, "format": "date"}},
        "required": ["date"],
        "unevaluatedProperties": False,
    },
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_a_call_fits_what_its_schema_says_of_several_members(tmp_path: Path, idiom: str) -> None:
    schema = {"type": "object", "properties": {}, **IDIOMS[idiom]}
    tool = made_tool(tmp_path, schema)
    calls = 0
    for seed in range(12):
        try:
            call = NO_VALUES.fill(tool, tool.required, "en", Random(seed))
        except ReplyError:  # told off, never landed
            continue
        calls += 1
        assert SchemaValidator(schema, format_checker=FormatChecker()).is_valid(call), call
    assert calls or obstacle(tool)


def test_dependencies_of_older_drafts_hold(tmp_path: Path) -> None:
    parameters = {
        "type": "object",
        "properties": {"city": TEXT, "country": TEXT, "email": TEXT},
        "required": ["city"],
        "dependencies": {"city": ["country"], "country": {"required": ["email"]}},
    }
    for call in drawn(made_tool(tmp_path, parameters)):
        assert call.keys() == {"city", "country", "email"}


def test_objects_without_members_are_never_filled(tmp_path: Path) -> None:
    for schema in ({"type": "object"}, {"type": "object", "additionalProperties": True}):
        parameters = {"type": "object", "properties": {"extra": schema}, "required": ["extra"]}
        assert "names no members" in obstacle(made_tool(tmp_path, parameters))


def test_values_in_a_body_stand_at_their_places(tmp_path: Path) -> None:
    inner = {
        "type": "object",
        "properties": {"id": TEXT, "city": TEXT},
        "anyOf": [{"required": ["city"]}, {"required": ["id", "city"]}],
    }
    tool = body_tool(
        tmp_path, {"type": "object", "properties": {"data": inner}, "required": ["data"]}
    )
    assert schema_of_call(tool)
    (call, *_) = drawn(tool)
    assert call_object(tool, {"id": "A1", "city": "Ulm"})["body"] == {"data": {"city": "Ulm"}}
    assert "city" in call


def test_calls_of_one_tool_may_give_different_parameters(tmp_path: Path) -> None:
    ways = [{"required": ["email"]}, {"required": ["phone"]}]
    properties = {"city": TEXT, "email": TEXT, "phone": TEXT}
    schema = {"type": "object", "properties": properties, "required": ["city"], "oneOf": ways}
    tool, heard = made_tool(tmp_path, schema), list[LeftOut]()
    other = tool.with_changes(name="stop_it", description="Stop a delivery of books.")
    order = Order(kind_named("parallel"), "en", "", 30, [tool, other], seed=2)
    plans = [*plan_parallel(order._replace(leave_out=heard.append))]
    given = {frozenset(call.arguments) for plan in plans for call in plan.calls}
    assert given == {frozenset({"city", "email"}), frozenset({"city", "phone"})}
    assert not [one.reason for one in heard if "bug" in one.reason]


def test_ranges_are_in_order(tmp_path: Path) -> None:
    moment = {"type": "string", "format": "date-time"}
    number = {"type": "integer", "minimum": 0, "maximum": 100}
    properties = {"createdSince": moment, "createdUntil": moment}
    properties |= {"max_price": number, "min_price": number}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    for call in drawn(made_tool(tmp_path, schema), 30):
        assert str(call["createdSince"]) < str(call["createdUntil"])
        assert int(str(call["min_price"])) <= int(str(call["max_price"]))


def test_parameters_that_are_said_alike_make_no_call(tmp_path: Path) -> None:
    number = {"type": "integer"}
    schema = {
        "type": "object",
        "properties": {"id": number, "ID": number},
        "required": ["id", "ID"],
    }
    assert "said alike" in obstacle(made_tool(tmp_path, schema))


VIEW = {"type": "string", "description": "A view payload. This must be a JSON-encoded string."}


def test_what_nothing_tells_is_listed_with_lines_to_fill_in(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"view": VIEW, "city": TEXT}, "required": ["view"]}
    tool = made_tool(tmp_path, schema)
    assert "`values: {do_it.view: […]}`" in obstacle(tool)
    (missing,) = missing_values([tool])
    assert values_block([missing]).splitlines() == [
        "values:",
        f"  do_it.view: []  # {VIEW['description']}",
    ]
    own = OwnValues({"do_it.view": ['{"type":"modal"}']})
    assert not missing_values([tool], own)
    assert own.fill(tool, tool.required, "en", Random(1)) == {"view": '{"type":"modal"}'}


@pytest.mark.parametrize(
    ("name", "description", "is_sent"),
    [
        ("x-api-key", "", True),
        ("Idempotency-Key", "A unique key for the request", True),
        ("x-jws-signature", "Header containing a detached JWS signature of the body.", True),
        ("access_token", "", True),
        ("key", "a valid API key", True),
        ("key", "Name of the setting", False),
        ("signature", "How the mail is signed, such as the name of a person", False),
        ("session", "The session of the conference", False),
        ("token_name", "Name of the new token", False),
    ],
)
def test_plumbing_is_known_by_name_and_description(
    name: str, description: str, *, is_sent: bool
) -> None:
    assert is_plumbing(name, {**TEXT, "description": description}) is is_sent


@pytest.mark.parametrize(
    ("name", "description", "sort"),
    [
        ("channel", "Channel to pin the item in.", r"[a-z]+"),
        ("user_id", "Id of the user to promote to owner.", r"U0\d{8}"),
        ("template_version_id", "ID of the template's version.", r"[A-Z]+-?\d+"),
        ("from_name", "The name of the sender", r"[A-Z]\w+ [A-Z]\w+"),
        ("file", "ID of file to delete.", r"F0\d{8}"),
        ("charge", "", r"[A-Z]+-?\d+"),
    ],
)
def test_values_are_of_the_sort_that_people_give(
    tmp_path: Path, name: str, description: str, sort: str
) -> None:
    one = {**TEXT, "description": description} if description else TEXT
    schema = {"type": "object", "properties": {name: one}, "required": [name]}
    path = tmp_path / "tools.json"
    path.write_text(
        json.dumps([{"name": "get_charge", "description": "Get it.", "parameters": schema}])
    )
    (tool,) = read_tools(path)
    for call in drawn(tool):
        assert re.fullmatch(sort, str(call[name])), call


def test_a_call_that_changes_nothing_is_refused_whatever_the_document_allows(
    tmp_path: Path,
) -> None:
    whole = {"type": "object", "properties": {"id": TEXT, "label": TEXT}}
    made = made_tool(tmp_path, {**whole, "required": ["id"], "minProperties": 2})
    tool = made.with_changes(original=Original(schema_of_call=whole, places={}))
    assert argument_problems(tool, {"id": "t-1"}, partial=False)
    assert not argument_problems(tool, {"id": "t-1"}, partial=True)
    assert not argument_problems(tool, {"id": "t-1", "label": "red"}, partial=False)


def test_an_id_that_its_description_calls_a_guid_is_one() -> None:
    schema = {**TEXT, "description": "The globally unique identifier (GUID) of the account."}
    value = make_value("account_id", schema, "en", Random(1))
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(value))


def test_rules_in_prose_hold_for_what_is_made_and_for_nobody_else(tmp_path: Path) -> None:
    members = {
        "kind": {"type": "string", "enum": ["card", "cash"]},
        "number": {**TEXT, "description": "The number. Required when kind is card."},
        "email": {**TEXT, "description": "Where to write to."},
        "phone": {**TEXT, "description": "Where to call."},
        "tip": {"type": "number", "description": "The tip, with at most two decimal places."},
    }
    parameters = {"type": "object", "properties": members, "required": ["kind"]}
    description = "Pay for it. Either email or phone must be provided, but not both."
    tool = made_tool(tmp_path, parameters, description=description)
    for seed in range(30):
        names = ["kind", *Random(seed).sample(["number", "email", "phone", "tip"], 2)]
        call = NO_VALUES.fill(tool, names, "en", Random(seed))
        assert made_problems(tool, call, partial=False) == []
        assert ("email" in call) != ("phone" in call)
        assert call["kind"] == "cash" or "number" in call
    alone: Arguments = {"kind": "card"}
    assert argument_problems(tool, alone, partial=False) == []
    assert made_problems(tool, alone, partial=False) != []


def test_imports_tell_the_rules_that_were_read_and_those_that_were_not(tmp_path: Path) -> None:
    members = {
        "place_id": {**TEXT, "description": "Cannot be combined with town_name."},
        "town_name": {**TEXT, "description": "A town. Only used by certain partners."},
    }
    path = tmp_path / "tools.json"
    parameters = {"type": "object", "properties": members}
    path.write_text(
        json.dumps([{"name": "find_it", "description": "Find it.", "parameters": parameters}])
    )
    catalog = read_catalog("openai", path)
    told = {one.kind: one.message for one in catalog.problems if one.kind.endswith("_rule")}
    assert "Cannot be combined with town_name" in told["prose_rule"]
    assert "`plumbing: {town_name: false}`" in told["unread_rule"]
    assert catalog.tools[0].plumbing == ("town_name",)
    assert adapt(catalog.tools, ToolChoice(plumbing={"town_name": False}))[0].plumbing == ()


def test_a_required_parameter_under_an_unread_rule_needs_values(tmp_path: Path) -> None:
    text = "The mode. Only the audience and the subject_token go with it, which must be provided."
    members = {"grant": {**TEXT, "description": text}, "audience": TEXT, "subject_token": TEXT}
    parameters = {"type": "object", "properties": members, "required": ["grant"]}
    tool = made_tool(tmp_path, parameters)
    assert "No schema says this rule" in obstacle(tool)
    assert [one.parameter for one in missing_values([tool])] == ["do_it.grant"]
    own = OwnValues({"do_it.grant": ["client"]})
    assert own.fill(tool, tool.required, "en", Random(1)) == {"grant": "client"}


@pytest.mark.parametrize("name", ["slack.swagger2.json", "spotify.openapi30.yml"])
def test_no_call_made_of_a_document_breaks_a_rule_of_its_prose(shared: Path, name: str) -> None:
    tools = read_catalog("openapi", shared / "data" / "openapi" / name).tools
    made = 0
    for tool in (one for one in tools if not rules_of(one).is_plain):
        for seed in range(4):
            rng = Random(seed)
            names = {*tool.required, *rng.sample(tool.optional, min(2, len(tool.optional)))}
            try:
                call = NO_VALUES.fill(
                    tool, [one for one in tool.properties if one in names], "en", rng
                )
            except ReplyError:
                continue
            assert made_problems(tool, call, partial=False) == [], tool.name
            made += 1
    assert made


def test_rules_of_a_body_stand_in_the_description_of_the_parameters(tmp_path: Path) -> None:
    tool = body_tool(
        tmp_path,
        {
            "type": "object",
            "description": "What changes. At least one of `title` or `text` must be provided.",
            "properties": {"title": TEXT, "text": TEXT},
        },
    )
    assert tool.parameters["description"] == "At least one of title or text must be provided."
    assert made_problems(tool, {}, partial=False) != []
