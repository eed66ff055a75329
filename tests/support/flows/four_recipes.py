"""A warehouse that all four papers' recipes have filled, a few samples each, released in splits
and evaluated.
"""

import asyncio
from pathlib import Path

import pytest

from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, read_recipe
from callwright.flows.settings import Settings
from callwright.llm.models import read_model
from callwright.warehouse.releases import Selection, Terms, make_release
from tests.support.flows.small_builds import build, settings_of, warehouse_of

RECIPES = Path(__file__).parents[3] / "recipes"
PAPERS = ("hammerbench", "callnavi", "complexfuncbench", "confetti")
RELEASE = "mixed"
CARELESS = {"error_rate": {"wrong_argument": 0.5, "refusal": 0.2}}


@pytest.fixture(scope="session")
def four_recipes(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A sample of each kind, two candidates, two runs. Nobody changes it."""
    settings = settings_of(tmp_path_factory.mktemp("four"))
    recipes = [read_recipe(RECIPES / f"{name}.yaml").as_asked(model="", limit=1) for name in PAPERS]
    # With one sample of each kind all that is made of one hangs on it: by this seed each is read as
    # it was meant.
    builds = [build(recipe.model_copy(update={"seed": 2}), settings).build for recipe in recipes]
    shares = {"train": 0.6, "test": 0.4}
    make_release(
        warehouse_of(settings), RELEASE, Selection(builds=tuple(builds)), Terms(shares=shares)
    )
    candidates = [
        Candidate(label="careful", model=read_model("template/v1")),
        Candidate(label="careless", model=read_model("template/v1", CARELESS)),
    ]
    asyncio.run(
        evaluate_release(RELEASE, candidates, settings, SilentProgress(), Conditions(runs=2))
    )
    return settings
