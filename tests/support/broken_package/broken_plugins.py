"""Rows that can't be used."""

from callwright.generators.families import Family, Kind, Traits
from callwright.warehouse.exports import training

OPENAI = training.OPENAI
FAMILY = Family(
    "unfinished", (Kind("unfinished", "a kind that nothing makes", "unfinished", Traits()),), ()
)
