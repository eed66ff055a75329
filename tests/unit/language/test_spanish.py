"""Spanish numbers, times, dates and agreement: what no table of the other tests tells."""

import pytest

from callwright.language.dates import find_dates, find_times
from callwright.language.numbers import find_numbers


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("quiero dos mil quinientas treinta y cinco cajas", [2535]),
        ("para dos y luego tres personas", [2, 3]),
        ("dos y tres", [2, 3]),
        ("tres millones doscientos mil", [3_200_000]),
        ("menos cinco grados", [-5]),
        ("al menos dos horas, por lo menos 3", [2, 3]),
        ("dos y medio kilos de peras", [2.5]),
        ("el veinte por ciento", [20]),
        ("una mesa en la terraza", []),
    ],
)
def test_numbers_in_words_are_read(text: str, values: list[float]) -> None:
    assert [found.value for found in find_numbers(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a las siete y media de la tarde", ["19:30"]),
        ("a la una menos cuarto de la noche", ["00:45"]),
        ("a las diez y veinticinco de la noche", ["22:25"]),
        ("las 7.30 de la mañana", ["07:30"]),
        ("a las 8 de la tarde", ["20:00"]),
        ("a mediodía o a medianoche", ["12:00", "00:00"]),
        ("las siete maletas del coche", []),
    ],
)
def test_times_of_day_are_read_and_counted_things_are_none(text: str, values: list[str]) -> None:
    assert [found.value for found in find_times(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("el 3 de mayo de 2026", ["2026-05-03"]),
        ("el veintiuno de marzo del 2027", ["2027-03-21"]),
        ("el primero de enero", ["--01-01"]),
        ("el lunes 3 de mayo", ["--05-03"]),
        ("pasado mañana por la tarde", ["pasado mañana"]),
        ("a las nueve de la mañana", []),
    ],
)
def test_dates_are_read(text: str, values: list[str]) -> None:
    assert [found.value for found in find_dates(text)] == values
