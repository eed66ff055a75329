"""The thirteen types that parameters are counted by, told from names as APIs write them."""

import pytest

from callwright.validators.metrics.complexeval.results import parameter_type

TYPES = {
    "filter": ("filter", "categories_filter", "productFilters"),
    "legs": ("legs", "legs[0].fromId", "flight_legs"),
    "token": ("token", "pageToken"),
    "slug": ("slug", "productSlug"),
    "date": ("arrival_date", "checkInDate", "pick_up_date", "check_in"),
    "location": ("location", "query", "pick_up_latitude", "city", "country_code", "dropOffPlace"),
    "key": ("key", "vehicle_key", "searchKey"),
    "id": ("id", "dest_id", "fromId", "hotel_ids", "HotelID"),
    "time": ("pick_up_time", "dropOffTime"),
    "sort_by": ("sort_by", "sort", "orderBy"),
    "type": ("type", "search_type", "tripType"),
    "age": ("children_age", "driverAge"),
    "people": ("adults", "people", "passengers", "children_qty"),
    "other": ("currency_code", "page_number", "agenda", "keyword"),
}


@pytest.mark.parametrize(
    ("expected", "name"), [(kind, name) for kind, names in TYPES.items() for name in names]
)
def test_a_parameter_has_the_type_that_its_name_tells(expected: str, name: str) -> None:
    assert parameter_type(name) == expected


def test_the_first_rule_decides_where_several_fit() -> None:
    assert parameter_type("location_id") == "id"
    assert parameter_type("date_type") == "type"
    assert parameter_type("guest_age") == "age"
