"""Values that make sense with what a tool does, as outside readers of samples asked for."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, time
from random import Random
from uuid import UUID

import pytest
from pydantic import JsonValue

from callwright.generators.own_values import NO_VALUES
from callwright.language.calls.agreement import agreeing, towns
from callwright.language.calls.codes import like
from callwright.language.calls.examples import is_placeholder, usable_examples, with_told_example
from callwright.language.calls.parameters import ASKED_OF, stated_choices, tells_values, title_of
from callwright.language.calls.sampling import (
    FIRST_DAY,
    LAST_DAY,
    fill_in,
    make_value,
    out_of_order,
)
from callwright.language.calls.tools import tool_title
from callwright.language.values import write_value
from callwright.warehouse.records import JsonSchema
from tests.support.warehouse.fixtures import make_tool

DAY = {"type": "string", "format": "date"}
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}


def drawn(tool, names, seed):
    return NO_VALUES.fill(tool, names, "en", Random(seed))


@pytest.mark.parametrize(
    ("tool", "flag"), [("removeComment", "removed"), ("block_community", "block"), ("ban", "ban")]
)
def test_a_flag_that_is_what_the_tool_does_is_set(tool: str, flag: str) -> None:
    made = make_tool(tool, **{flag: FLAG})
    assert all(drawn(made, [flag], seed)[flag] for seed in range(40))
    other = make_tool(tool, is_pinned=FLAG)
    assert not all(drawn(other, ["is_pinned"], seed)["is_pinned"] for seed in range(40))


def test_periods_named_by_comparisons_are_in_order() -> None:
    names = ["created_gt", "created_lt"]
    made = make_tool("list_runs", created_gt=DAY, created_lt=DAY)
    for seed in range(40):
        values = drawn(made, names, seed)
        assert values["created_gt"] < values["created_lt"]


@pytest.mark.parametrize(
    "example",
    ["224%20Rue%20de%20Rivoli", "name:'My store'|type:'click'", "POLYGON ((1 2, 3 4))", "a|b"],
)
def test_what_programs_write_is_nothing_that_people_give(example: str) -> None:
    assert not tells_values("query", {"type": "string", "examples": [example]})
    assert tells_values("query", {"type": "string", "examples": ["London"]})


@pytest.mark.parametrize(
    ("described", "code"),
    [
        ("Number of the ticket, such as T-1042", "T-1042"),
        ("The order, e.g. ord_9912x.", "ord_9912x"),
        ("Número del pedido, por ejemplo PED-5512", "PED-5512"),
        ("订单编号，例如 DD20331", "DD20331"),
        ("Name, such as London", None),
    ],
)
def test_a_code_that_a_description_shows_is_an_example(described: str, code: str | None) -> None:
    schema = with_told_example({"type": "string", "description": described})
    assert schema.get("examples") == ([code] if code else None)


def test_a_report_has_a_reason_to_report() -> None:
    reason = {"type": "string", "description": "The reason."}
    made = make_tool("report_post", reason=reason)
    said = {drawn(made, ["reason"], seed)["reason"] for seed in range(30)}
    assert "it is spam" in said
    assert not any("appointment" in one or "wedding" in one for one in said)


@pytest.mark.parametrize(
    ("name", "example", "is_one"),
    [
        ("domain", "my.domain.tld", True),
        ("callback_url", "https://example.com/callback", True),
        ("name", "string", True),
        ("token", "YOUR_TOKEN", True),
        ("id", "<id>", True),
        ("storeId", "STORE_ID_12345", True),
        ("departure_time", "departure_time", True),
        ("name", "My Cool Store", True),
        ("app_id", "unique-app-identifier", True),
        ("description", "An example endpoint name", True),
        ("sort", "user_id", False),
        ("featureFlag", "cool-new-feature", True),
        ("title", "My favourite songs", False),
        ("email", "jane@example.com", False),
        ("user", "user-123", False),
        ("url", "https://cdn.acme.io/logo.png", False),
    ],
)
def test_a_placeholder_of_the_document_is_no_value(name: str, example: str, is_one: bool) -> None:
    assert is_placeholder(example, name) == is_one


@pytest.mark.parametrize(
    ("described", "does", "is_told"),
    [
        ("The base64 encoded image.", "", False),
        ("The image, as base64 or as a URL.", "", True),
        ("Where the file is.", "Replaces the cover with a base64 encoded image", False),
        ("Where the file is.", "Replaces the cover", True),
    ],
)
def test_nobody_says_a_file_in_base64(described: str, does: str, is_told: bool) -> None:
    schema = {**TEXT, "description": described, ASKED_OF: f"set_cover {does}"}
    assert tells_values("url", schema) == is_told


def test_a_placeholder_gives_way_to_a_value_of_its_meaning() -> None:
    made = make_tool("set_domain", domain={**TEXT, "examples": ["my.domain.tld"]})
    assert all(drawn(made, ["domain"], at)["domain"].endswith(".example") for at in range(8))
    assert not tells_values("thing", {**TEXT, "examples": ["YOUR_THING"]})


@pytest.mark.parametrize(
    ("name", "described"),
    [
        ("email_id", "The ID of the email."),
        ("contact_id", "The Contact ID or email address."),
        ("assignee", "ID of the user who does the work"),
        ("Sid", "The SID of the Address Configuration resource."),
    ],
)
def test_what_is_described_as_an_id_is_no_name_and_no_address(name: str, described: str) -> None:
    made = make_tool("cancel", **{name: {**TEXT, "description": described}})
    values = [drawn(made, [name], seed)[name] for seed in range(20)]
    assert all(re.fullmatch(r"[A-Z]+\d*-?\d+", str(value)) for value in values)
    mail = make_tool("send", email={**TEXT, "description": "The email of the user with this ID."})
    assert "@" in drawn(mail, ["email"], 1)["email"]


def test_a_uuid_in_an_example_stays_a_uuid_in_lower_case() -> None:
    shown = {**TEXT, "examples": ["5EB02857-A71E-4EA2-BCF9-57D3A41BC6BA"]}
    pattern = {**TEXT, "pattern": "^CH[0-9a-fA-F]{32}$"}
    made = make_tool("get", run_id=shown, ConversationSid=pattern)
    for seed in range(20):
        values = drawn(made, ["run_id", "ConversationSid"], seed)
        assert UUID(values["run_id"]).version == 4
        assert re.fullmatch("CH[0-9a-f]{32}", values["ConversationSid"])


def test_latitude_and_longitude_are_those_of_the_city_and_its_country() -> None:
    number = {"type": "number"}
    place = {"city": TEXT, "country_code": TEXT, "lat": number, "lng": number}
    made = make_tool("add_store", **place, zip=TEXT)
    by_name = {one.name: one for one in towns("en")}
    for seed in range(20):
        values = drawn(made, [*place, "zip"], seed)
        town = by_name[values["city"]]
        told = (values["country_code"], values["lat"], values["lng"], values["zip"])
        assert told == (town.country_code, town.latitude, town.longitude, town.postal_code)
        known = NO_VALUES.fill(made, ["lat", "lng"], "en", Random(seed), {"city": "Oslo"})
        assert known == {"lat": 59.91, "lng": 10.75}
        inner = make_tool("add", stores={"type": "array", "items": _object(place)})
        listed = drawn(inner, ["stores"], seed)["stores"]
        assert all(by_name[one["city"]].latitude == one["lat"] for one in listed)


def test_links_of_a_call_lead_to_one_site_and_callbacks_to_its_hooks() -> None:
    link = {"type": "string", "format": "uri"}
    made = make_tool("create_hook", pre_webhook_url=link, success_url=link, domain=TEXT)
    for seed in range(20):
        values = drawn(made, ["pre_webhook_url", "success_url", "domain"], seed)
        site = values["domain"]
        assert values["pre_webhook_url"] == f"https://hooks.{site}/pre-webhook"
        assert values["success_url"] == f"https://{site}/success"


def test_a_made_up_mail_address_is_of_the_person_beside_it() -> None:
    made = make_tool("create_contact", email=TEXT, first_name=TEXT, last_name=TEXT)
    for seed in range(20):
        values = drawn(made, ["email", "first_name", "last_name"], seed)
        named = f"{values['first_name']}.{values['last_name']}@".lower()
        assert values["email"].startswith(named)


def test_optional_members_that_nothing_tells_are_left_out_of_objects() -> None:
    probe = _object({"scheme": TEXT, "port": {"type": "integer"}}, "port")
    made = make_tool("add_probe", probe=probe)
    assert all([*drawn(made, ["probe"], seed)["probe"]] == ["port"] for seed in range(20))


def test_what_either_of_two_parameters_may_be_is_no_choice() -> None:
    described = "Use either `arrival_time` or `departure_time`, not both."
    assert not stated_choices({**TEXT, "description": described})


def _object(members: dict[str, object], *required: str) -> dict[str, object]:
    needed = [*(required or members)]
    return {"type": "object", "properties": members, "required": needed}


def test_nobody_makes_up_the_scopes_of_an_access_token() -> None:
    asked = {**TEXT, "description": "Scopes requested by the OAuth flow"}
    assert not tells_values("scope", asked)
    assert tells_values("scope", {**asked, "enum": ["read", "write"]})


@pytest.mark.parametrize(
    ("example", "form"),
    [
        ("PT4KHLK", r"P[A-Z]\d[A-Z]{4}"),
        ("PXPGF42", r"P[A-Z]{4}\d\d"),
        ("cus_9sk3Xw", r"cus_\d[a-z]{2}\d[A-Z][a-z]"),
        ("ORD-1042", r"ORD-[1-9]\d{3}"),
        ("BK1042", r"BK[1-9]\d{3}"),
        ("atmpt_1srOrx2ZWZBp", r"atmpt_\d[a-z]{2}[A-Z][a-z]{2}\d[A-Z]{4}[a-z]"),
        ("MmFAzfDe", r"[A-Z][a-z][A-Z]{2}[a-z]{2}[A-Z][a-z]"),
        ("ext-subscription-123", r"ext-subscription-\d{3}"),
        ("7", r"\d{3}"),
        ("setup_fee", r"(?!setup)[a-z]+_[a-z]+"),
    ],
)
def test_codes_are_of_the_form_of_an_example_and_differ(example: str, form: str) -> None:
    made = {like(example, Random(seed)) for seed in range(20)}
    assert all(re.fullmatch(form, one) for one in made)
    assert len(made) > 15


def test_a_code_of_words_in_another_script_is_kept() -> None:
    assert like("成人票类型", Random(1)) == "成人票类型"


@pytest.mark.parametrize(
    ("name", "schema", "form"),
    [
        ("template_id", {"examples": ["f57db65d3f933b5316d398057a36176831451a35"]}, "[0-9a-f]{40}"),
        ("scope", {"examples": ["enterprise_123456"]}, r"enterprise_\d{6}"),
        ("start", {"examples": ["2022-09-23"]}, r"202[67]-\d\d-\d\d"),
        ("ended_at", {"examples": ["2012-12-19T10:34:23-08:00"]}, r"202[67]-.*T\d\d:\d\d:00Z"),
        ("email", {"examples": ["james@firefly-iii.org"]}, r"\S+@\S+"),
        ("currency_code", {"examples": ["EUR"], "description": "The currency code."}, "[A-Z]{3}"),
        ("name", {"examples": ["My first application"]}, "[A-Z][a-z]+ [A-Z][a-z]+"),
        (
            "name",
            {
                "examples": ["Backup Server"],
                "description": "The application name. It is shown to the user.",
            },
            "(?!Backup)[A-Z][a-z]+ [A-Z][a-z]+",
        ),
        ("iterator", {"examples": ["msg_1srOrx2ZWZBpBUv"]}, r"msg_\d[a-z]{2}[A-Z].*"),
        ("file_name", {"examples": ["Project.mov"]}, r"[a-z]+-\d{3}\.mov"),
        ("title", {"examples": ["Default rule group"]}, "(?!Default).+"),
        ("query", {"examples": ["groceries"]}, "groceries"),
    ],
)
def test_a_single_example_shows_the_form_of_a_value(
    name: str, schema: JsonSchema, form: str
) -> None:
    made = {str(make_value(name, {**TEXT, **schema}, "en", Random(seed))) for seed in range(20)}
    assert all(re.fullmatch(form, one) for one in made)
    assert name == "query" or len(made - {*schema["examples"]}) > 5


@pytest.mark.parametrize(
    ("name", "schema", "ticks"),
    [
        ("created_at_after", {"type": "string", "examples": ["1677253093"]}, 1),
        ("updated_at", {"type": "integer", "examples": [1672928610]}, 1),
        ("from", {"type": "integer", "examples": [1672928610000], "description": "Unix ms."}, 1000),
    ],
)
def test_moments_in_seconds_are_near_and_nobody_says_them(
    name: str, schema: JsonSchema, ticks: int
) -> None:
    assert not tells_values(name, schema)
    first, last = (datetime.combine(day, time(), UTC) for day in (FIRST_DAY, LAST_DAY))
    for seed in range(20):
        seconds = int(str(make_value(name, schema, "en", Random(seed)))) / ticks
        assert first <= datetime.fromtimestamp(seconds, UTC) <= last


def test_a_number_like_a_moment_that_is_none_stays_a_number() -> None:
    assert tells_values("phone", {"type": "integer", "examples": [1677253093]})


def test_what_ends_begins_before() -> None:
    made = make_tool("create_post", starts_at=DAY, ends_at=DAY)
    for seed in range(20):
        values = drawn(made, ["starts_at", "ends_at"], seed)
        assert values["starts_at"] < values["ends_at"]


def test_the_type_of_a_reference_is_what_it_refers_to() -> None:
    inner = {"type": "object", "properties": {"id": TEXT, "type": TEXT}, "required": ["type"]}
    made = make_tool("create_rule", business_services=inner, type=TEXT)
    for seed in range(10):
        values = drawn(made, ["business_services", "type"], seed)
        assert values["business_services"]["type"] == "business_service"
        assert values["type"] != "business_service"


@pytest.mark.parametrize(
    ("name", "description", "title"),
    [
        ("get_accounts_id", "Retrieve account. Retrieve one by its ID.", "retrieve account"),
        ("patch_payments_id", "Categorize payment", "categorize payment"),
        ("post_teams_id", "Updates a team.", "update a team"),
        ("fetch_orders", "Fetches orders.", "fetch orders"),
        ("createTask", "Task creation endpoint", "create task"),
        ("get_order_details", "Order details", "get order details"),
        ("get_info", "Info.", "get info"),
        ("account", "Retrieve an account.", "retrieve an account"),
        ("get_all_api_foods_get", "Get All", "get all foods"),
        ("get_one_api_foods_item_id_get", "Get One", "get one foods item ID"),
        ("get_username_avatar", "User Avatar", "get user name avatar"),
        ("getStreaming", "Watch the timeline for a hashtag", "watch the timeline for a hashtag"),
        ("fireRule", "Fire the rule on your transactions", "fire the rule on my transactions"),
        ("getAccountLookup", "Lookup account ID from address", "get account lookup"),
        (
            "hide",
            "Dismiss multiple requests, which hides them for good",
            "dismiss multiple requests",
        ),
        ("delete_files_id_trash", "Permanently remove file", "permanently remove file"),
        ("getTags", "Returns all tags for a given User", "return all tags for a User"),
        ("getAges", "Fetches all ages from the libraries passed", "fetch all ages"),
    ],
)
def test_a_tool_is_called_by_what_its_summary_says_it_does(
    name: str, description: str, title: str
) -> None:
    assert tool_title(name, description) == title


@pytest.mark.parametrize("described", ["Filters records by name", "name parameter"])
def test_what_is_said_of_a_parameter_is_no_name_of_it(described: str) -> None:
    assert title_of("name", {**TEXT, "description": described}, "en") == "name"


@pytest.mark.parametrize(
    "described",
    [
        "Name of the server to create (must be a valid hostname as per RFC 1123).",
        "Hostname to set as a reverse DNS entry.",
    ],
)
def test_what_has_to_be_a_host_name_is_one(described: str) -> None:
    shown: JsonSchema = {**TEXT, "description": described, "examples": ["my-server"]}
    made = make_tool("create_server", called=shown, dns_ptr=shown)
    for seed in range(20):
        values = drawn(made, ["called", "dns_ptr"], seed)
        assert all(re.fullmatch(r"[a-z0-9.-]+", one) for one in values.values())


@pytest.mark.parametrize("described", ["`tags`", "tags", '"tags".'])
def test_the_only_value_that_a_description_states_is_the_value(described: str) -> None:
    kind = {**TEXT, "description": f"The type of this resource: {described}"}
    made = make_tool(
        "add_tags", data={"type": "array", "items": _object({"type": kind, "id": TEXT})}
    )
    drawn_data = [drawn(made, ["data"], seed)["data"] for seed in range(10)]
    assert {one["type"] for some in drawn_data for one in some} == {"tags"}


@pytest.mark.parametrize(
    "described",
    [
        "The type of a file, for example: pdf",
        "The order of these results: see below",
        "The name of this order: any text",
    ],
)
def test_a_word_after_a_colon_is_not_always_the_only_value(described: str) -> None:
    assert stated_choices({**TEXT, "description": described}) == []


def test_what_is_described_as_a_label_is_one_though_it_identifies() -> None:
    told = "The label of the tag, which also acts as the tag's unique identifier."
    made = make_tool("add_tag", id={**TEXT, "description": told})
    for seed in range(10):
        assert re.fullmatch(r"[A-Za-z][A-Za-z -]*", str(drawn(made, ["id"], seed)["id"]))


@pytest.mark.parametrize(
    "example",
    [
        "iVBORw0KGgoAAAANSUhEUgAAABkAAAAZCAYAAADE6YVjAAAAAXNSR0IArs4c6QAA==",
        "$ORIGIN lake.example.\n$TTL 3600\n@ IN NS one.lake.example.\n@ IN A 192.0.2.1\n",
        "https://[YOUR ENDPOINT ID].hooks.lake.example",
    ],
)
def test_bytes_files_and_gaps_in_capitals_are_no_examples(example: str) -> None:
    assert usable_examples("content", {**TEXT, "examples": [example, "plain"]}) == ["plain"]


@pytest.mark.parametrize(
    ("name", "about", "ending"),
    [
        ("avatar", "The avatar as single file.", r"\.(png|jpg)"),
        ("import", "The board's export zip file.", r"\.zip"),
        ("attachment", "The board as a JSON file.", r"\.json"),
    ],
)
def test_a_file_ends_as_what_is_said_of_it(name: str, about: str, ending: str) -> None:
    schema = {**TEXT, "description": about}
    files = [str(make_value(name, schema, "en", Random(seed))) for seed in range(9)]
    assert all(re.search(f"{ending}$", one) for one in files), files


def test_nobody_fills_an_object_of_many_members_that_says_of_none_that_it_is_needed() -> None:
    members = {one: TEXT | {"examples": ["Ada"]} for one in ("a", "b", "c", "d", "e", "f")}
    some = {"type": "object", "properties": members}
    assert not tells_values("shipment", some)
    assert tells_values("shipment", {**some, "required": ["a"]})


def test_free_keys_have_values_of_their_own() -> None:
    labels: JsonSchema = {
        "type": "object",
        "additionalProperties": {**TEXT, "pattern": "^[a-z-]*$"},
    }
    for seed in range(12):
        made = make_value("labels", labels, "en", Random(seed))
        assert isinstance(made, dict)
        assert made.get("team", "search") in ("billing", "search", "mobile", "support")


def test_the_parts_of_an_address_are_of_one_town_whatever_they_are_called() -> None:
    values: dict[str, JsonValue] = {
        "city_locality": "Winnipeg",
        "state_province": "Manitoba",
        "postal_code": "78756",
    }
    told = agreeing(dict(values), dict.fromkeys(values, TEXT), "en", Random(1))
    town = next(one for one in towns("en") if one.name == told["city_locality"])
    assert told["state_province"] in (town.region, town.region_code)
    assert told["postal_code"] == town.postal_code


def test_a_mail_address_goes_with_the_login_beside_it_where_no_name_is_told() -> None:
    values = {"userName": "hrussell", "email": "christopher55@example.org"}
    told = agreeing(dict(values), dict.fromkeys(values, TEXT), "en", Random(1))
    assert told == {"userName": "hrussell", "email": "hrussell@example.org"}
    named = {**values, "firstName": "Ada", "lastName": "Berg"}
    told = agreeing(dict(named), dict.fromkeys(named, TEXT), "en", Random(1))
    assert told["email"] == "ada.berg@example.org"


def test_an_object_within_a_list_comes_with_the_one_that_its_kind_names() -> None:
    number = _object({"number": {"type": "integer"}})
    kind = {"type": "string", "enum": ["server", "label"]}
    item = _object({"type": kind, "server": number, "label": number}, "type")
    made = make_tool("apply_to", to={"type": "array", "items": item})
    found = [one for seed in range(20) for one in drawn(made, ["to"], seed)["to"]]
    assert {one["type"] for one in found} == {"server", "label"}
    assert all({*one} == {"type", one["type"]} for one in found)


@pytest.mark.parametrize("known", ["from", "to"])
def test_a_period_ends_after_it_starts_whichever_end_is_known(known: str) -> None:
    days = dict.fromkeys(("from", "to"), DAY)
    for seed in range(9):
        value = make_value("from", DAY, "en", Random(f"{seed} known"))
        names = [name for name in days if name != known]
        whole = {known: value, **fill_in(names, days, "en", Random(seed), {known: value})}
        assert whole[known] == value
        assert str(whole["from"]) <= str(whole["to"])
        assert out_of_order(whole, days) is None
    assert out_of_order({"from": "2027-04-24", "to": "2027-04-13"}, days) == ("from", "to")


def test_what_happened_since_a_moment_and_until_another_is_past() -> None:
    moment: JsonSchema = {"type": "string", "format": "date-time"}
    properties = {"since": moment, "until": moment}
    for seed in range(40):
        period = fill_in(["since", "until"], properties, "en", Random(seed))
        assert str(period["since"]) <= str(period["until"]) < "2026-11"
        muted = fill_in(["until"], {"until": moment}, "en", Random(seed))
        assert str(muted["until"]) >= "2026-12"


def test_a_month_as_a_day_is_its_first() -> None:
    assert str(make_value("month", DAY, "en", Random(3))).endswith("-01")


@pytest.mark.parametrize(
    ("description", "numbers"),
    [
        ("1 for Gold, 2 for Silver, 3 for Bronze.", {1, 2, 3}),
        ("The day: 1 = Sunday, 2 = Monday or 7 = Saturday", {1, 2, 7}),
        ("0: off, 1: on", {0, 1}),
        ("1 - Instant meeting.<br>2 - Scheduled meeting.", {1, 2}),
    ],
)
def test_numbers_that_a_description_explains_are_the_choices(
    description: str, numbers: set[int]
) -> None:
    schema = {"type": "integer", "description": description}
    assert {make_value("kind_id", schema, "en", Random(seed)) for seed in range(40)} == numbers


@pytest.mark.parametrize("description", ["e.g., 2 for like", "Up to 3 items. 30 is the default."])
def test_a_single_number_that_is_explained_is_no_choice(description: str) -> None:
    schema = {"type": "integer", "description": description}
    assert len({make_value("count", schema, "en", Random(seed)) for seed in range(40)}) > 2


def test_a_code_of_digits_is_made_of_digits() -> None:
    code = {**TEXT, "description": "Conference code: numeric value, shorter than 16."}
    assert str(make_value("conference_code", code, "en", Random(1))).isdecimal()


@pytest.mark.parametrize(
    ("name", "described", "form"),
    [
        ("file", "CSV file with the contacts", r"[^/]+\.csv"),
        ("file", "Audio file in WAV format", r"[^/]+\.wav"),
        ("filename", "Name of the backup, a .tar.gz file", r"[^/]+\.tar\.gz"),
        ("file_path", "Path to a YAML file", r"[^/]+\.yaml"),
        ("path", "URL path to redirect from", r"/[a-z/-]+"),
        ("path", "Path of the object in the bucket", r"[a-z].*\.\w+"),
        ("smtp_server", "Where mails are sent", r"[a-z-]+\.example"),
        ("host", "The host of the origin, with or without https", r"[a-z-]+\.example"),
    ],
)
def test_files_paths_and_hosts_are_what_is_said_of_them(
    name: str, described: str, form: str
) -> None:
    made = make_tool("update_thing", **{name: {**TEXT, "description": described}})
    for seed in range(20):
        assert re.fullmatch(form, str(drawn(made, [name], seed)[name]))


@pytest.mark.parametrize(
    ("start", "end"),
    [("issue_date", "due_date"), ("effective_date", "expiration_date"), ("begins", "ends")],
)
def test_a_period_is_in_order_whatever_its_ends_are_called(start: str, end: str) -> None:
    day = {**TEXT, "format": "date"}
    values: dict[str, JsonValue] = {start: "2027-05-09", end: "2027-05-03"}
    assert out_of_order(values, {start: day, end: day}) == (start, end)


def test_an_order_that_a_description_states_is_held() -> None:
    numbers = {
        "floor": {
            "type": "integer",
            "description": "If `peak` is set this must be less than `peak`.",
        },
        "peak": {"type": "integer"},
    }
    clocks = {
        "opens_at": {**TEXT, "format": "date-time"},
        "pause_at": {**TEXT, "format": "date-time", "description": "Must be after opens_at."},
    }
    assert out_of_order({"floor": 9, "peak": 3}, numbers) == ("floor", "peak")
    late, early = "2027-05-09T10:00:00Z", "2027-05-03T10:00:00Z"
    assert out_of_order({"opens_at": late, "pause_at": early}, clocks) == ("opens_at", "pause_at")


def test_an_opaque_id_in_base64_is_one_of_another_thing() -> None:
    room = "ciscospark://us/ROOM/bbceb1ad-43f1-4b58-9147-f14bb0c4d154"
    shown = urlsafe_b64encode(room.encode()).decode().rstrip("=")
    schema = {"type": "string", "description": "The room.", "examples": [shown]}
    made = {str(make_value("roomId", schema, "en", Random(seed))) for seed in range(9)}
    assert len(made) == 9
    assert shown not in made
    for one in made:
        inner = urlsafe_b64decode(one + "=" * (-len(one) % 4)).decode()
        assert re.fullmatch(r"ciscospark://us/ROOM/[0-9a-f-]{36}", inner)


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ("This is a flag. When supplied it includes entries that go on from before.", "yes"),
        ("Optional. If set to true, the user is deleted even if they have memos.", "yes"),
        ("Optional. Include archived items", "with archived items"),
        ("A flag to show deleted rows", "with deleted rows"),
    ],
)
def test_what_a_flag_switches_is_no_label_and_no_sentence(description: str, words: str) -> None:
    schema = {"type": "boolean", "title": "", "description": description}
    assert write_value(True, schema, "en", Random(1)) == words
