"""Values by what a parameter means."""

import ipaddress
import re
from random import Random
from zoneinfo import available_timezones

import pytest

from callwright.language.calls.parameters import in_context
from callwright.language.calls.sampling import fill_in, make_value
from callwright.language.packs import of

TEXT = {"type": "string"}
FIRST_NAMES = frozenset(of("en").data["values"]["first_names"])


def made(name: str, description: str = "", **schema: object) -> list[object]:
    full = {**TEXT, **schema, **({"description": description} if description else {})}
    return [make_value(name, full, "en", Random(seed)) for seed in range(20)]


def test_a_time_zone_is_one_of_the_zones_there_are():
    assert set(made("timezone")) <= available_timezones()
    assert set(made("tz", "IANA time zone of the user")) <= available_timezones()


@pytest.mark.parametrize(
    ("name", "description", "pattern"),
    [
        ("currency_code", "ISO 4217 code", r"[A-Z]{3}"),
        ("market", "An ISO 3166-1 alpha-2 country code.", r"[A-Z]{2}"),
        ("language", "ISO 639-1 code", r"[a-z]{2}"),
        ("userEmail", "", r"\S+@example\.(com|org|net)"),
        ("commit_sha", "The SHA of the commit.", r"[0-9a-f]{40}"),
        ("task_gid", "The task to operate on.", r"TAS-?\d+"),
        ("uuid", "", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("isbn", "", r"97[89]-[\d-]{13}"),
        ("file_path", "Path to the file", r"[\w./-]+\.\w+"),
        ("branch", "The name of the branch.", r"[\w./-]+"),
        ("repo", "The name of the repository.", r"[\w-]+"),
        ("username", "The handle for the account.", r"[a-z\d]+"),
        ("color", "A hexadecimal color code", r"[0-9a-f]{6}"),
        ("tag_name", "The name of the tag.", r"v\d\.\d\.\d"),
        ("zip_code", "", r"\d{5}"),
        ("mac_address", "", r"([0-9a-f]{2}:){5}[0-9a-f]{2}"),
    ],
)
def test_a_value_is_of_the_parameters_meaning(name: str, description: str, pattern: str):
    assert all(re.fullmatch(pattern, str(value)) for value in made(name, description))


def test_an_address_of_a_machine_is_one():
    assert all(ipaddress.ip_address(str(value)) for value in made("ip_address"))


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("page", 1, 9),
        ("per_page", 5, 50),
        ("latitude", -60, 70),
        ("port", 3000, 9999),
        ("year", 2020, 2028),
        ("hour", 0, 23),
    ],
)
def test_a_number_has_the_bounds_of_its_meaning(name: str, low: int, high: int):
    schema = {"type": "number"}
    values = [make_value(name, schema, "en", Random(seed)) for seed in range(40)]
    assert all(low <= float(str(value)) <= high for value in values)


def test_the_bounds_of_the_schema_come_first():
    schema = {"type": "integer", "minimum": 1, "maximum": 12}
    assert all(
        1 <= int(str(make_value("per_page", schema, "en", Random(seed)))) <= 12
        for seed in range(40)
    )


def test_the_tool_tells_what_a_bare_name_means():
    known = in_context(
        {"body": TEXT, "title": TEXT}, "create_issue", "create a new issue in a repository"
    )
    values = [fill_in(["title", "body"], known, "en", Random(seed)) for seed in range(20)]
    assert not any(
        "minutes late" in str(value["body"]) or "workshop" in str(value["title"])
        for value in values
    )


def test_choices_that_only_the_description_names_are_what_a_value_is_one_of():
    stated = "The audio track to record. Can be: inbound, outbound or both. The default is both."
    assert {*made("RecordingTrack", stated)} == {"inbound", "outbound", "both"}
    assert {*made("mode", "The mode. [Enum]: ['on', 'off']")} == {"on", "off"}


def test_links_and_later_sentences_of_a_description_tell_no_meaning():
    stated = "The SID or label of the participant. Non URL safe characters must be percent encoded."
    assert not [value for value in made("call_label", stated) if "://" in str(value)]


def test_the_number_of_a_page_is_a_small_one_whatever_its_description_speaks_of():
    assert (
        max(made("Page", "The page index. This value is simply for client state.", type="integer"))
        <= 9
    )


def test_an_example_in_digits_tells_the_form_of_an_id_whatever_its_name() -> None:
    for name in ("parent", "workspace", "user_gid"):
        schema = {
            "type": "string",
            "examples": ["159874"],
            "description": "The workspace in which to look.",
        }
        made_up = {str(make_value(name, schema, "en", Random(seed))) for seed in range(20)}
        assert all(re.fullmatch(r"\d{6}", one) for one in made_up)
        assert len(made_up) > 10


@pytest.mark.parametrize(
    ("tool", "description", "parameter", "is_folder"),
    [
        (
            "create_directory",
            "Create a new directory. Only works within allowed directories.",
            {},
            True,
        ),
        (
            "list_entries",
            "Get a listing of all files and directories in a specified path.",
            {},
            True,
        ),
        ("read_text", "Read a file as text. Only works within allowed directories.", {}, False),
        (
            "read_many",
            "Read several files.",
            {"description": "A valid file within allowed directories."},
            False,
        ),
    ],
)
def test_a_path_leads_to_what_its_tool_works_on(
    tool: str, description: str, parameter: dict[str, str], is_folder: bool
):
    schemas = in_context({"path": {**TEXT, **parameter}}, tool, description)
    values = [fill_in(["path"], schemas, "en", Random(seed))["path"] for seed in range(20)]
    assert {re.search(r"\.\w+$", str(value)) is None for value in values} == {is_folder}


def test_the_sides_of_a_box_are_apart():
    sides = {
        name: {"type": "number", "description": f"{of} {name} of bounding box"}
        for of, name in (
            ("Latitude", "north"),
            ("Latitude", "south"),
            ("Longitude", "west"),
            ("Longitude", "east"),
        )
    }
    for seed in range(20):
        box = fill_in([*sides], sides, "en", Random(seed))
        assert -90 <= box["south"] < box["north"] <= 90
        assert -180 <= box["west"] < box["east"] <= 180


@pytest.mark.parametrize(
    ("description", "choices"),
    [
        ("When set to **true**, only custom tabs are returned.", {"true", "false"}),
        ("Leaves drafts out. If true, they are in it.", {"true", "false"}),
        ("Whether to shout: true or false.", {"true", "false"}),
        (
            "The group that is searched. Valid values are: drafts, completed, out_for_signature.",
            {"drafts", "completed", "out_for_signature"},
        ),
    ],
)
def test_what_a_text_says_it_takes_is_what_it_gets(description: str, choices: set[str]) -> None:
    assert set(made("shown_only", description)) == choices


def test_what_another_parameter_is_set_to_is_no_value_of_this_one() -> None:
    assert "true" not in made("city", "The city. Needed when `is_local` is set to true.")


def test_a_name_that_ends_in_at_is_a_moment_whatever_its_description_mentions() -> None:
    moments = made("start_at", "RFC 3339; shifted to the location timezone and its offset.")
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*", str(one)) for one in moments)


@pytest.mark.parametrize(
    ("start", "end"), [("since", "until"), ("created_after", "created_before"), ("from", "till")]
)
def test_a_period_ends_after_it_starts_however_its_ends_are_called(start: str, end: str) -> None:
    moment = {**TEXT, "format": "date-time"}
    for seed in range(20):
        values = fill_in([end, start], {start: moment, end: moment}, "en", Random(seed))
        assert str(values[start]) < str(values[end])


def test_what_belongs_to_a_mail_is_no_address() -> None:
    assert not any("@" in str(one) for one in made("email_subject", "What the mail is about"))
    addresses = ("email", "customer_email_address", "reply_to_email", "email_1")
    assert all("@" in str(one) for name in addresses for one in made(name))
    assert all("@" in str(one) for one in made("whom", "The email of the user"))


@pytest.mark.parametrize(
    ("name", "example", "digits"), [("petId", 10, 3), ("ids", 7, 3), ("order_id", 48213, 5)]
)
def test_one_example_of_a_number_that_is_an_id_is_not_the_only_one(
    name: str, example: int, digits: int
) -> None:
    values = made(name, type="integer", examples=[example])
    assert len({*values}) > 10
    assert {len(str(one)) for one in values} == {digits}


def test_one_example_of_a_number_stands_for_those_of_its_meaning_and_for_itself_where_none_are_known() -> (
    None
):
    assert len({*made("per_page", type="integer", examples=[30])}) > 3
    assert {*made("timeout", type="integer", examples=[30000])} == {30000}
    assert {*made("frobs", type="integer", examples=[4])} == {4}
    assert {*made("frobs", type="integer", examples=[4, 9])} == {4, 9}


@pytest.mark.parametrize(
    ("tool", "does", "description", "is_person"),
    [
        ("create_playlist", "Create a playlist for a user", "", False),
        (
            "create-playlist",
            "Create a playlist for a user",
            'The name for the new playlist, as in "My Songs"',
            False,
        ),
        ("add_team", "Let a member add a team", "The team's name", False),
        ("addTeam", "Add a team with its members", "Name", False),
        ("create_user", "Create a user", "", True),
        ("update_order", "Change an order", "Name of the customer", True),
        ("invite", "Invite a person", "", True),
    ],
)
def test_a_name_is_of_what_its_description_or_else_its_tool_is_about(
    tool: str, does: str, description: str, is_person: bool
) -> None:
    schemas = in_context({"name": {**TEXT, "description": description}}, tool, does)
    values = {str(make_value("name", schemas["name"], "en", Random(seed))) for seed in range(20)}
    assert {value.split()[0] in FIRST_NAMES for value in values} == {is_person}


def test_a_thing_without_names_of_its_own_is_called_by_no_persons_name() -> None:
    device = {"type": "object", "required": ["name"], "properties": {"name": TEXT}}
    values = [make_value("device", device, "en", Random(seed)) for seed in range(20)]
    assert not any(
        str(value["name"]).split()[0] in FIRST_NAMES for value in values if isinstance(value, dict)
    )
