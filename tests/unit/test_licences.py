"""Nothing that callwright installs forces a copyleft licence on those who use it."""

from importlib.metadata import distribution

import pytest

from bench.licences import PAGE, is_copyleft, licence_of, packages_of, write_page


@pytest.mark.parametrize(
    ("licence", "is_one"),
    [
        ("GPL-3.0-or-later", True),
        ("GNU Library or Lesser General Public License (LGPL)", True),
        ("MIT AND AGPL-3.0-only", True),
        ("Artistic OR GPL", False),
        ("MPL-2.0", False),
        ("Apache-2.0", False),
    ],
)
def test_a_licence_is_copyleft_if_it_leaves_no_other_choice(licence: str, *, is_one: bool) -> None:
    assert is_copyleft(licence) == is_one


def test_no_package_of_the_core_or_of_all_is_copyleft() -> None:
    licences = {name: licence_of(distribution(name)) for name in packages_of(("all",))}
    assert len(licences) > 100
    assert [name for name, one in licences.items() if is_copyleft(one) or one == "not stated"] == []


def test_the_page_of_licences_is_as_the_command_writes_it() -> None:
    assert write_page() == PAGE.read_text(encoding="utf-8"), "run `make docs`"
