"""Rules that descriptions state in prose alone, in the words of published documents."""

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from callwright.language.calls.prose_rules import ReadProse, read_rules, state_rule
from callwright.warehouse.records import JsonSchema

TEXT: JsonSchema = {"type": "string"}
FLAG: JsonSchema = {"type": "boolean"}
WHOLE: JsonSchema = {"type": "integer"}
NUMBER: JsonSchema = {"type": "number"}
TEXTS: JsonSchema = {"type": "array", "items": TEXT}


def one_of(*choices: str) -> JsonSchema:
    """Return the schema of a choice."""
    return {"type": "string", "enum": [*choices]}


def reading_of(
    text: str, about: str = "", required: tuple[str, ...] = (), **members: JsonSchema
) -> ReadProse:
    """Return what is read of a text that describes the tool, or the parameter `about`."""
    properties = {name: dict(schema) for name, schema in members.items()}
    if about:
        properties[about]["description"] = text
    parameters = {"type": "object", "properties": properties, "required": [*required]}
    return read_rules("" if about else text, parameters)


Case = tuple[str, str, dict[str, JsonSchema], dict[str, Any], dict[str, Any]]

# the text, the parameter that it describes ("": the tool), the parameters, a call that fits, one
# that breaks the rule
RULES: list[Case] = [
    (
        "At least one of `name` or `description` must be provided.",
        "",
        {"name": TEXT, "description": TEXT, "id": TEXT},
        {"name": "a"},
        {"id": "a"},
    ),
    (
        "One of transfer_id or authorization_id must be populated but not both.",
        "",
        {"transfer_id": TEXT, "authorization_id": TEXT},
        {"transfer_id": "a"},
        {"transfer_id": "a", "authorization_id": "b"},
    ),
    (
        "Either this field or `external_id` or both are required.",
        "file",
        {"file": TEXT, "external_id": TEXT, "more": TEXT},
        {"external_id": "a", "file": "b"},
        {"more": "a"},
    ),
    (
        "Either `view_id` or `external_id` is required.",
        "view_id",
        {"view_id": TEXT, "external_id": TEXT},
        {"view_id": "a"},
        {},
    ),
    (
        "One of either the `user_id` or the `user` field is required.",
        "user_id",
        {"user_id": TEXT, "user": TEXT},
        {"user": "a"},
        {},
    ),
    (
        "Note: only required if `seed_genres` and `seed_tracks` are not set.",
        "seed_artists",
        {"seed_artists": TEXT, "seed_genres": TEXT, "seed_tracks": TEXT},
        {"seed_tracks": "a"},
        {},
    ),
    (
        "Mutually exclusive with custom_shift_id",
        "rotation_id",
        {"rotation_id": TEXT, "custom_shift_id": TEXT},
        {"rotation_id": "a"},
        {"rotation_id": "a", "custom_shift_id": "b"},
    ),
    (
        "Cannot be combined with `service_ids[]`.",
        "service_id",
        {"service_id": TEXT, "service_ids": TEXTS},
        {"service_ids": ["a"]},
        {"service_id": "a", "service_ids": ["b"]},
    ),
    (
        "Cannot be specified if `incident_id` is provided.",
        "service_id",
        {"service_id": TEXT, "incident_id": TEXT},
        {"service_id": "a"},
        {"service_id": "a", "incident_id": "b"},
    ),
    (
        "If `after` is specified, `before` must not be specified.",
        "after",
        {"after": WHOLE, "before": WHOLE},
        {"after": 1},
        {"after": 1, "before": 2},
    ),
    (
        "Cannot be specified if an escalation policy is given.",
        "assignments",
        {"assignments": TEXTS, "escalation_policy": TEXT},
        {"escalation_policy": "a"},
        {"escalation_policy": "a", "assignments": ["b"]},
    ),
    (
        "`since` and `until` cannot be used together.",
        "",
        {"since": TEXT, "until": TEXT},
        {"since": "a"},
        {"since": "a", "until": "b"},
    ),
    (
        "Required if the type is contains, exactly or regex.",
        "matcher",
        {"matcher": TEXT, "type": one_of("contains", "exactly", "regex", "any")},
        {"type": "any"},
        {"type": "regex"},
    ),
    (
        "Required when type is 'url'",
        "url",
        {"url": TEXT, "type": one_of("url", "file")},
        {"type": "file"},
        {"type": "url"},
    ),
    (
        "If the value for `accessLevel` is `Region`, this property is required.",
        "regions",
        {"regions": TEXTS, "accessLevel": one_of("Region", "Office")},
        {"accessLevel": "Office"},
        {"accessLevel": "Region"},
    ),
    (
        "Required for `CODE`/`USER_DRAGGABLE`; not allowed for `SYSTEM_DRAGGABLE`.",
        "html",
        {"html": TEXT, "editor_type": one_of("CODE", "USER_DRAGGABLE", "SYSTEM_DRAGGABLE")},
        {"editor_type": "SYSTEM_DRAGGABLE"},
        {"editor_type": "SYSTEM_DRAGGABLE", "html": "a"},
    ),
    (
        "Required if trigger_type is “conditional”, not allowed for other trigger types.",
        "condition",
        {"condition": TEXT, "trigger_type": one_of("manual", "conditional")},
        {"trigger_type": "conditional", "condition": "a"},
        {"trigger_type": "manual", "condition": "a"},
    ),
    (
        "Note: this argument is required unless you set `org_wide=true`.",
        "team_id",
        {"team_id": TEXT, "org_wide": FLAG},
        {"org_wide": True},
        {"org_wide": False},
    ),
    (
        "Must be a valid ACH return code (e.g. R01), required if report_type is ACH_RETURN",
        "ach_return_code",
        {"ach_return_code": TEXT, "report_type": one_of("ACH_RETURN", "OTHER")},
        {"report_type": "OTHER"},
        {"report_type": "ACH_RETURN"},
    ),
    (
        "Must be non-empty when `state` is `enabled`.",
        "cidr_entries",
        {"cidr_entries": TEXTS, "state": one_of("enabled", "disabled")},
        {"state": "disabled"},
        {"state": "enabled"},
    ),
    (
        "Must be qualified by providing the `actor_type` param.",
        "actor_id",
        {"actor_id": TEXT, "actor_type": TEXT},
        {"actor_id": "a", "actor_type": "user"},
        {"actor_id": "a"},
    ),
    (
        "Must be used in conjunction with `as_user` set to `false`, otherwise ignored.",
        "username",
        {"username": TEXT, "as_user": FLAG},
        {"username": "a", "as_user": False},
        {"username": "a", "as_user": True},
    ),
    (
        "A `user_token` must also be provided to use this field.",
        "item_ids",
        {"item_ids": TEXTS, "user_token": TEXT},
        {"item_ids": ["a"], "user_token": "b"},
        {"item_ids": ["a"]},
    ),
    (
        "Must be set together with `end_date`.",
        "start_date",
        {"start_date": TEXT, "end_date": TEXT},
        {"start_date": "a", "end_date": "b"},
        {"start_date": "a"},
    ),
    (
        "Usable only if `profile` is not passed.",
        "value",
        {"value": TEXT, "profile": TEXT},
        {"value": "a"},
        {"value": "a", "profile": "b"},
    ),
    (
        "This setting applies only when `alert_grouping` is set to `time`.",
        "alert_grouping_timeout",
        {"alert_grouping_timeout": WHOLE, "alert_grouping": one_of("time", "intelligent")},
        {"alert_grouping_timeout": 1, "alert_grouping": "time"},
        {"alert_grouping_timeout": 1, "alert_grouping": "intelligent"},
    ),
    (
        "Ignored unless `notify` is true.",
        "message",
        {"message": TEXT, "notify": FLAG},
        {"message": "a", "notify": True},
        {"message": "a"},
    ),
    (
        'Currently only "$custom" is supported.',
        "integration_type",
        {"integration_type": TEXT},
        {"integration_type": "$custom"},
        {"integration_type": "other"},
    ),
    ("The `kind` value must be `user`.", "", {"kind": TEXT}, {"kind": "user"}, {"kind": "lead"}),
    ("(Required) The ID of the form.", "formId", {"formId": TEXT}, {"formId": "a"}, {}),
    (
        "Must be between 1 - 1000 both inclusive.",
        "limit",
        {"limit": WHOLE},
        {"limit": 1000},
        {"limit": 1001},
    ),
    (
        "Must be a value from 0 to 100 inclusive.",
        "limit",
        {"limit": WHOLE},
        {"limit": 100},
        {"limit": 101},
    ),
    (
        "Maximum of 2 attachments.",
        "files",
        {"files": TEXTS},
        {"files": ["a"]},
        {"files": ["a"] * 3},
    ),
    (
        "A maximum of 2 `conversation_ids` can be provided.",
        "",
        {"conversation_ids": TEXTS},
        {"conversation_ids": ["a"]},
        {"conversation_ids": ["a", "b", "c"]},
    ),
    (
        "At least two options are required.",
        "options",
        {"options": TEXTS},
        {"options": ["a", "b"]},
        {"options": ["a"]},
    ),
    ("Max length of 3 characters", "code", {"code": TEXT}, {"code": "abc"}, {"code": "abcd"}),
    ("Value must not be negative.", "timeout", {"timeout": WHOLE}, {"timeout": 0}, {"timeout": -1}),
    (
        "Must contain at most two digits of precision e.g. 1.23",
        "value",
        {"value": NUMBER},
        {"value": 1.5},
        {"value": 1.234},
    ),
    (
        'The amount (decimal string with two digits of precision e.g. "10.00").',
        "amount",
        {"amount": TEXT},
        {"amount": "10.00"},
        {"amount": "10"},
    ),
    (
        "Note: `auto_send` must be `true` for trigger types of `alert_suppressed` and `alert_suspended`",
        "trigger_types",
        {
            "auto_send": FLAG,
            "trigger_types": {
                "type": "array",
                "items": one_of("alert_suppressed", "alert_suspended", "x"),
            },
        },
        {"auto_send": False, "trigger_types": ["x"]},
        {"auto_send": False, "trigger_types": ["alert_suppressed"]},
    ),
    (
        "Required if `kind` is `card` and `notify` is true.",
        "mail",
        {"kind": one_of("card", "bank"), "notify": FLAG, "mail": TEXT},
        {"kind": "card", "notify": False},
        {"kind": "card", "notify": True},
    ),
    (
        "If both `start_date` and `end_date` are provided, `period_id` cannot be set.",
        "",
        {"start_date": TEXT, "end_date": TEXT, "period_id": TEXT},
        {"start_date": "a", "period_id": "b"},
        {"start_date": "a", "end_date": "b", "period_id": "c"},
    ),
    (
        "Without an `assignee_id`, both `location_id` and `department_id` must be specified.",
        "",
        {"assignee_id": TEXT, "location_id": TEXT, "department_id": TEXT},
        {"assignee_id": "a"},
        {"location_id": "a"},
    ),
    (
        "You must provide either `user_email`, or `first_name` and `last_name`.",
        "",
        {"user_email": TEXT, "first_name": TEXT, "last_name": TEXT},
        {"first_name": "a", "last_name": "b"},
        {"first_name": "a"},
    ),
    (
        "Required if `location_id` or `department_id` is given.",
        "note",
        {"note": TEXT, "location_id": TEXT, "department_id": TEXT},
        {},
        {"department_id": "a"},
    ),
    (
        "This can only be used with `first_name` and `last_name`.",
        "title",
        {"title": TEXT, "first_name": TEXT, "last_name": TEXT},
        {"first_name": "a"},
        {"title": "a", "first_name": "b"},
    ),
]


@pytest.mark.parametrize(
    "case", RULES, ids=[f"{at}-{case[0][:30]}" for at, case in enumerate(RULES)]
)
def test_a_rule_of_a_published_document_is_held(case: Case) -> None:
    text, about, members, fitting, breaking = case
    read = reading_of(text, about, **members)
    validator = Draft202012Validator(read.schema)
    assert [rule.is_read for rule in read.rules] == [True]
    assert validator.is_valid(fitting)
    assert not validator.is_valid(breaking)


# sentences of published documents that rule no parameter of the call
NO_RULES = [
    "Must be unique within the schema (case-insensitive).",
    "Must be a user.",
    "Must be publicly accessible.",
    "Companies will be only visible when there is at least one associated user.",
    "Only results related to these teams will be returned.",
    "You can only have one active job per workspace.",
    "Account must have the `teams` ability to use this parameter.",
    "If true, the trigger can only be started by authorized users.",
    "Returns only the incidents currently assigned to the passed user(s).",
    "Deleting a ticket is permanent and cannot be reversed.",
    "You must have the canManageAccount permission set to true.",
    "A region cannot be deleted while existing objects reference it.",
    "The maximum number of results to return per page.",
    "This is a rolling time window up to 24 hours.",
    "If omitted, all services that you have access to will be included.",
    "Either name or id of the parent type can be used.",
    "The type of target (either a user or an escalation policy).",
    "When not provided, defaults to the current time.",
    "Required field definitions are listed by another method.",
    "The maximum supported time range is one year.",
    "An incident cannot have more than 1000 alerts.",
    "The escalation policy must not be in use by any services.",
    "Teams must be added through POST /teams to be returned from this endpoint.",
    "Set `isRequired` to true if this is a required form.",
    "It must be formatted as a UNIX timestamp.",
    "Whether the attribute is required to be filled in by teammates.",
    "The name, if it is at least somewhat unusual, is shown in both places.",
    "Must be in tzdata format.",
    "By default we return only non archived data attributes.",
    "The time between when the incident was made and when it ended.",
    "Size must be less than what the plan allows.",
    "This value must match the name of an existing integration.",
    "This is only relevant if the user wants to add tags to the tweet.",
    "We recommend providing a precision of four decimal places.",
]


@pytest.mark.parametrize("sentence", NO_RULES)
def test_a_sentence_that_is_no_rule_changes_nothing(sentence: str) -> None:
    members = {
        "name": TEXT,
        "id": TEXT,
        "type": one_of("user", "lead"),
        "email": TEXT,
        "limit": WHOLE,
        "team_ids": TEXTS,
        "note": TEXT,
    }
    for about in ("", "note"):
        read = reading_of(sentence, about, **members)
        assert (read.rules, read.is_plain) == ((), True)


def test_an_unread_rule_names_its_parameter_and_its_sentence() -> None:
    sentence = "Must be smaller in kind than `order_size` if the market is closed"
    read = reading_of(sentence, "price", price=NUMBER, order_size=NUMBER)
    assert read.unread == {}  # an order, which is seen to where values are drawn
    sentence = "Only used where the `order_size` was agreed on by telephone"
    read = reading_of(sentence, "price", price=NUMBER, order_size=NUMBER)
    assert (read.unread, read.is_plain) == ({"price": sentence}, True)


def test_an_optional_member_with_an_unread_rule_is_taken_out_of_its_object() -> None:
    inner = {"street": TEXT, "unit_code": {**TEXT, "description": "Only used by certain partners."}}
    parameters = {
        "type": "object",
        "properties": {"place": {"type": "object", "properties": inner}},
    }
    read = read_rules("", parameters)
    assert [*read.schema["properties"]["place"]["properties"]] == ["street"]
    assert [(rule.about, rule.is_read) for rule in read.rules] == [("place.unit_code", False)]


def test_what_a_list_must_hold_is_told_as_unread() -> None:
    members: dict[str, JsonSchema] = {"id": TEXT, "label": TEXT}
    sets: JsonSchema = {"type": "array", "items": {"type": "object", "properties": members}}
    text = "Must contain a set with id start"
    assert reading_of(text, "sets", sets=sets).unread == {"sets": text}


def test_descriptions_of_alternatives_are_read() -> None:
    text = "Must be present for comment and note message types."
    body = {"anyOf": [{**TEXT, "description": text}, TEXT]}
    kinds = {"anyOf": [one_of("comment"), one_of("comment", "note", "quick_reply")]}
    validator = Draft202012Validator(reading_of("", body=body, message_type=kinds).schema)
    assert validator.is_valid({"message_type": "quick_reply"})
    assert not validator.is_valid({"message_type": "note"})


def test_rules_of_members_are_held_in_their_object_and_in_lists() -> None:
    text = "Required when `kind` is `card`."
    inner = {"kind": one_of("card", "cash"), "number": {**TEXT, "description": text}}
    items = {"type": "object", "properties": inner}
    parameters = {"type": "object", "properties": {"means": {"type": "array", "items": items}}}
    validator = Draft202012Validator(read_rules("", parameters).schema)
    assert validator.is_valid({"means": [{"kind": "cash"}]})
    assert not validator.is_valid({"means": [{"kind": "card"}]})


def test_a_bound_that_the_example_breaks_is_read_wrongly_and_dropped() -> None:
    read = reading_of("Maximum of 10.", "limit", limit={**WHOLE, "examples": [50]})
    assert read.is_plain


WORDS = st.sampled_from(
    [
        "required",
        "if",
        "when",
        "unless",
        "only",
        "either",
        "or",
        "and",
        "not",
        "both",
        "must",
        "be",
        "set",
        "provided",
        "ignored",
        "one",
        "of",
        "at",
        "least",
        "most",
        "between",
        "1",
        "100",
        "maximum",
        "characters",
        "a_b",
        "`c`",
        "c",
        "type",
        "is",
        "=",
        "true",
        ",",
        ";",
        "(",
        ")",
        ".",
        "-",
        "/",
        "“x”",
        "'y'",
        "\ue000",
        "\ue0020\ue003",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=60).map(" ".join), st.sampled_from(["", "a_b", "c", "type"]))
def test_any_words_are_read_fast_into_a_valid_schema(text: str, about: str) -> None:
    began = time.process_time()
    read = reading_of(text, about, ("type",), a_b=TEXT, c=WHOLE, type=one_of("x", "y"))
    assert time.process_time() - began < 1
    Draft202012Validator.check_schema(read.schema)
    assert {*read.unread} <= {"a_b", "c", "type"}


@pytest.mark.parametrize(
    "unit", ["a_b or ", "required if ", "`x`, ", "is ", "a/", "the the ", "1 "]
)
def test_a_hostile_description_takes_no_time(unit: str) -> None:
    began = time.process_time()
    for about in ("", "c"):
        reading_of(f"required when {unit * 500}", about, a_b=TEXT, c=WHOLE)
        reading_of(f"required when {unit * (590 // len(unit) - 4)}", about, a_b=TEXT, c=WHOLE)
        reading_of(f"{unit * (560 // len(unit))} must be set", about, a_b=TEXT, c=WHOLE)
    assert time.process_time() - began < 2


READ_ONLY = [
    "A timestamp when this webhook was created. You cannot change this value.",
    "This property is read-only, you must use the separate endpoint to add labels to a task.",
    "Read-only.",
    "(readonly) When it was made.",
    "[Read-only] When it was made.",
    "Read-only: when it was made.",
    "When it was made (read only).",
    "When it was made. Set by the server.",
    "When it was made, this is generated automatically.",
    "This field is automatically set by the system.",
    "When it was made. Auto-generated.",
    "Assigned by the API.",
    "This is a read-only value that the service assigns.",
    "The generated ID of this webhook target",
    "Cannot be modified.",
    "This attribute can't be set by the user.",
]


@pytest.mark.parametrize("text", READ_ONLY)
def test_an_optional_member_that_is_read_only_by_its_description_is_not_drawn(text: str) -> None:
    read = reading_of(text, "made", made=TEXT, title=TEXT)
    assert [*read.unread] == ["made"]
    inner = {"made": {**TEXT, "description": text}, "title": TEXT}
    thing = {"type": "object", "properties": inner}
    parameters = {"type": "object", "properties": {"thing": thing}}
    assert [*read_rules("", parameters).schema["properties"]["thing"]["properties"]] == ["title"]
    assert reading_of(text, "made", ("made",), made=TEXT, title=TEXT).unread == {}


@pytest.mark.parametrize(
    "text",
    [
        "Whether the account is read-only.",
        "If true, the disk is read-only.",
        "Read-only access for guests.",
        "Description of the image, will be auto-generated if not set.",
        "Currency of the account. Cannot be changed after the account was opened.",
        "The name cannot be changed later.",
        "Once an order has been placed, this value cannot be updated.",
        "Automatically set the status of all orders.",
        "If omitted, a new address is generated automatically.",
        "The key that was generated by the server of the customer for this call.",
    ],
)
def test_what_only_speaks_of_reading_and_making_stays(text: str) -> None:
    assert reading_of(text, "made", made=TEXT, title=TEXT).unread == {}


def test_a_flag_for_reading_only_is_no_read_only_member() -> None:
    assert reading_of("Read only.", "read_only", read_only=FLAG).unread == {}


def test_a_kind_that_is_named_like_a_member_beside_it_needs_that_member() -> None:
    number: JsonSchema = {"type": "object", "properties": {"id": WHOLE}, "required": ["id"]}
    members = {"type": one_of("server", "label"), "server": number, "label": number, "note": TEXT}
    item = {"type": "object", "properties": members, "required": ["type"]}
    parameters = {"type": "object", "properties": {"to": {"type": "array", "items": item}}}
    validator = Draft202012Validator(read_rules("", parameters).schema)
    assert validator.is_valid({"to": [{"type": "server", "server": {"id": 1}}]})
    assert not validator.is_valid({"to": [{"type": "server"}]})
    assert not validator.is_valid({"to": [{"type": "server", "label": {"id": 1}}]})
    assert not validator.is_valid({"to": [{"type": "label", "server": {"id": 1}}]})


def test_an_order_that_is_named_like_filters_needs_none_of_them() -> None:
    read = reading_of("", sort=one_of("name", "created"), name=TEXT, created=TEXT)
    assert read.is_plain


def test_names_joined_by_a_slash_exclude_others_together() -> None:
    text = "The location, hall and owner_id/owner_type attributes are mutually exclusive."
    read = reading_of(
        text, "", ("owner_type",), location=TEXT, hall=TEXT, owner_id=TEXT, owner_type=TEXT
    )
    validator = Draft202012Validator(read.schema)
    assert validator.is_valid({"owner_type": "a", "owner_id": "b"})
    assert not validator.is_valid({"owner_type": "a", "hall": "b"})
    assert not validator.is_valid({"owner_type": "a", "owner_id": "b", "location": "c"})


@pytest.mark.parametrize(
    "text",
    [
        "Name of the server (must be unique per project and a valid hostname as per RFC 1123).",
        "Must be a valid host name.",
        "A fully qualified domain name (FQDN) without trailing dot.",
    ],
)
def test_a_text_that_has_to_be_a_host_name_has_its_format(text: str) -> None:
    read = reading_of(text, "name", name=TEXT)
    assert read.schema["properties"]["name"]["format"] == "hostname"


def test_a_title_for_a_host_name_is_no_host_name() -> None:
    assert reading_of("Title shown beside the valid host name.", "name", name=TEXT).is_plain


STATES = [
    ("retry_issuance", "Only applicable if the type of the Certificate is managed."),
    ("delete_image", "Deletes it. Only images of type snapshot and backup can be deleted."),
    ("protect_image", "Changes the protection. Can only be used on snapshots."),
    ("delete_volume", "The volume must not be attached to a server."),
    ("add_server", "Server must be powered off for this command to succeed."),
    ("delete_credentials", "They can't be deleted while they are used by an integration."),
    ("import_zone", "The import fails if a record is protected."),
    ("refund_payment", "The original payment must be in a settled state to be refunded."),
]


@pytest.mark.parametrize(("name", "text"), STATES)
def test_a_tool_that_works_in_some_states_of_its_things_is_known(name: str, text: str) -> None:
    assert state_rule(name, text, {"properties": {"id": TEXT}})


@pytest.mark.parametrize(
    "text",
    [
        "Only a tag's name can be changed.",
        "This only works for users who have a subscription.",
        "You must have the permission to do so.",
        "Tags must be unique per project.",
        "At least one tag must be provided.",
        "Can only be used when `filter_by` is given.",
        "The name must be no longer than ten characters.",
        "Reset should only be used when reboot does not work.",
    ],
)
def test_what_calls_and_callers_must_be_like_is_no_state_of_things(text: str) -> None:
    assert not state_rule("update_tag", text, {"properties": {"id": TEXT, "filter_by": TEXT}})


def test_bounds_that_count_nothing_are_no_length_of_a_list() -> None:
    rates = {"type": "array", "items": NUMBER}
    sentence = "The rates should be between 0.01 and 0.99."
    assert reading_of(sentence, "rates", rates=rates).rules == ()
    assert reading_of("Should be between 1 and 9.", "rates", rates=rates).rules != ()
