"""Recipes: what a build makes, of which tools, with which models. A YAML file, read strictly."""

from flows.recipe.parts import (
    LANDED_GRADES,
    Candidate,
    CatalogTools,
    Checks,
    DomainTools,
    GeneratedTools,
    ImportedTools,
    LandedGrade,
    PromptFile,
    Recipe,
    ReviewRules,
    Roles,
    Schedule,
    SeedTools,
    SpotChecks,
    ToolSource,
)
from flows.recipe.reading import parse_recipe, read_recipe, write_first_recipe

__all__ = [
    "LANDED_GRADES",
    "Candidate",
    "CatalogTools",
    "Checks",
    "DomainTools",
    "GeneratedTools",
    "ImportedTools",
    "LandedGrade",
    "PromptFile",
    "Recipe",
    "ReviewRules",
    "Roles",
    "Schedule",
    "SeedTools",
    "SpotChecks",
    "ToolSource",
    "parse_recipe",
    "read_recipe",
    "write_first_recipe",
]
