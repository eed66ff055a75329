"""What a tool does, as a person asks for it."""

import json
from random import Random

import pytest

from callwright.language.calls.tools import action_phrase
from callwright.llm.template.sections import Sections
from callwright.llm.template.several_calls import word_routing


@pytest.mark.parametrize(
    ("name", "description", "said"),
    [
        ("enableVoLTE", "Enables VoLTE for a specific phone number.", "enable VoLTE for a phone number"),
        ("find", "Enables users to find a doctor.", "find a doctor"),
        ("listSecrets", "List all OAuth 2.0 client secrets. Lists them.", "list all OAuth 2.0 client secrets"),
        ("getStatement", "Retrieves the statement for a given period.", "retrieve the statement"),
        ("bookSpace", "Book an event space for a specific date and time.", "book an event space"),
        ("getName", "Retrieves the name of a given phone number.", "retrieve the name of a phone number"),
        ("renewHouse", "Renew an existing house policy.", "renew a house policy"),
        ("getATM", "Retrieves details of a specific ATM.", "retrieve details of an ATM"),
        ("reportCard", "Reports a lost card and blocks it.", "report a lost card and block it"),
        ("linkAccount", "Links an existing account to a customer.", "link an account to a customer"),
        ("subscribe", "Subscribe the user to the newsletter.", "subscribe me to the newsletter"),
        ("getProfile", "Retrieve user profile information.", "retrieve user profile information"),
        ("writePoint", "Encapsulates a point in a buffer.", "encapsulate a point in a buffer"),
        (
            "close",
            "This tool belongs to the desk's system, which has cards. Tool description: Close a ticket.",
            "close a ticket",
        ),
        ("list_airports", "This tool belongs to the travel system.", "list airports"),
        ("logout", "Log out the current user.", "log me out"),
        ("login_status", "Get the login status of the currently authenticated user.", "get my login status"),
        (
            "provision",
            "Provisions or updates a certificate for the site.",
            "provision or update a certificate for the site",
        ),
        ("listTypesForUser", "", "list types for me"),
        ("configureHooksForSite", "", "configure hooks for the site"),
        ("generatePassword", "Generates a secure, random password.", "generate a secure random password"),
    ],
)
def test_a_description_is_said_in_the_imperative(name: str, description: str, said: str) -> None:
    assert action_phrase(name, description) == said


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ("Retrieves pay items", "retrieve pay items"),
        ("Retrieve pay items", "retrieve pay items"),
        ("Gas prices of today", "get gas prices of today"),
        ("Current prices", "get current prices"),
    ],
)
def test_a_question_asks_for_what_a_description_tells(description: str, said: str) -> None:
    tool = {"name": "getItems", "description": description, "parameters": {"type": "object", "properties": {}}}
    sections = Sections({"calls": '[{"tool": "getItems", "arguments": {}}]', "tools": json.dumps([tool])}, None)
    assert said in word_routing(sections, Random(1)).lower()
