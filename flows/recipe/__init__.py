"""Recipes: what a build makes, of which tools, with which models. A YAML file, read strictly."""

from callwright.flows.recipe.parts import *
from callwright.flows.recipe.problems import *
from callwright.flows.recipe.reading import *
from callwright.flows.recipe.rules import *
