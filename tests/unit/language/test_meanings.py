"""Values by what a parameter means."""

import re
from random import Random
from typing import Any

import pytest

from callwright.language.calls.parameters import in_context, is_free
from callwright.language.calls.sampling import fill_in, make_value

TEXT = {"type": "string"}


def made(name: str, description: str = "", **schema: object) -> list[object]:
    full = {**TEXT, **schema, **({"description": description} if description else {})}
    return [make_value(name, full, "en", Random(seed)) for seed in range(20)]


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


def test_what_belongs_to_a_mail_is_no_address() -> None:
    assert not any("@" in str(one) for one in made("email_subject", "What the mail is about"))
    addresses = ("email", "customer_email_address", "reply_to_email", "email_1")
    assert all("@" in str(one) for name in addresses for one in made(name))
    assert all("@" in str(one) for one in made("whom", "The email of the user"))


@pytest.mark.parametrize(
    ("name", "schema", "is_theirs"),
    [
        ("subject", {"type": "string"}, True),
        ("name", {"type": "string", "description": "A user-friendly name for the webhook."}, True),
        ("name", {"type": "string", "x-asked-of": "create_campaign Create a campaign."}, True),
        ("name", {"type": "string", "description": "The name of the user."}, False),
        ("servings", {"type": "number", "description": "The number of servings."}, True),
        (
            "servings",
            {"type": "number", "minimum": 1, "maximum": 9, "description": "How many."},
            False,
        ),
        ("max_price", {"type": "number", "description": "The highest price."}, False),
        ("device_id", {"type": "integer", "description": "The device."}, False),
        ("device_id", {"type": "string", "description": "The device."}, True),
        ("device_id", {"type": "string", "examples": ["dev_4821"]}, False),
        ("email", {"type": "string"}, False),
        ("day", {"type": "string", "format": "date"}, False),
        ("sort", {"type": "string", "enum": ["asc", "desc"]}, False),
    ],
)
def test_what_people_choose_freely_has_no_form_and_no_bounds(
    name: str, schema: dict[str, Any], is_theirs: bool
) -> None:
    assert is_free(name, schema) is is_theirs
