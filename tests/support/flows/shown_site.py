"""A work folder that has something for each page and each picture: every kind of sample, reviews,
releases and evaluations.

The tests that look at pages fill it with a few samples of each kind, the pictures of the docs with
many.
"""

import asyncio
from pathlib import Path

from callwright.annotation.screens import SAMPLE_REVIEW
from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.evaluation.predictions import PromptingStrategy
from callwright.flows.evaluation.tool_changes import ShownTools, read_changes
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate, Recipe, parse_recipe, read_recipe
from callwright.llm.models import read_model
from callwright.warehouse.releases import Selection, Terms, make_release
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import RATES, ReviewSite, open_site
from tests.support.flows.small_builds import build

RECIPES = Path(__file__).parents[3] / "recipes"
SHIPPED = ("spanish", "parallel", "callnavi", "complexfuncbench", "confetti", "live", "hammerbench")
FIRST = "pilot"
RELEASE = "mixed"
SPLITS = {"train": 0.7, "test": 0.3}
CARELESS = {
    "wrong_argument": 0.15,
    "wrong_tool": 0.1,
    "missing_argument": 0.1,
    "refusal": 0.1,
    "malformed_json": 0.05,
}
REASONS = ["wrong_value", "unnatural"]
PEOPLE = ("alice", "bruno", "chen")


def fill_shown_site(home: Path, each: int) -> ReviewSite:
    """Fill a work folder, with `each` samples of each kind at most."""
    site = open_site(home, PaperStudio())
    with site.warehouse.together():
        for size in (max(1, each // 2), each):  # so that there is a build before
            build(_reviewed_recipe(size), site.settings)
        _review(site)
        make_release(
            site.warehouse, FIRST, Selection(kinds=("perfect",)), Terms("Single calls only.")
        )
        for name in SHIPPED:
            build(_with_samples(read_recipe(RECIPES / f"{name}.yaml"), each), site.settings)
        make_release(site.warehouse, RELEASE, Selection(), Terms(shares=SPLITS, follows=FIRST))
        _evaluate(site)
    return site


def _reviewed_recipe(each: int) -> Recipe:
    """Single turns of a model that errs, about which people are asked, some of them about the
    same.
    """
    recipe = {
        "name": "demo",
        "seed": 2026,
        "tools": [{"seed": "all"}],
        "languages": ["en", "zh"],
        "samples": {"perfect": 8 * each, "imperfect": 4 * each, "irrelevant": 2 * each},
        "models": {"generator": {"name": "template/v1", "error_rate": RATES}},
        "review": {"spot_checks": 3 * each, "reviewers": 2, "gold_items": 2 * each},
        "readers": {"planted": 0.5},
    }
    return parse_recipe(recipe, Path(), "demo")


def _with_samples(recipe: Recipe, each: int) -> Recipe:
    samples = {kind: min(each, count) for kind, count in recipe.samples.items()}
    return recipe.model_copy(
        update={"samples": samples, "variants": min(recipe.variants, each), "seed": 6}
    )


def _review(site: ReviewSite) -> None:
    """Three people answer most of what they are asked, each sees every seventh thing otherwise,
    and some wait for a third.
    """
    site.push()
    subjects = [row["subject"] for row in site.rows(_ASKED, SAMPLE_REVIEW)]
    for place, subject in enumerate(subjects):
        for at, person in enumerate(PEOPLE[:2] if place % 3 else PEOPLE[1:]):
            is_bad = place % 4 == 0 or (place + 3 * at) % 7 == 0
            verdict, reasons = (
                ("reject", {"reasons": REASONS[: 1 + place % 2]}) if is_bad else ("accept", {})
            )
            site.studio.annotate(
                subject, verdict, by=person, seconds=9.0 + 4 * at + place % 5, **reasons
            )
    site.pull()


def _evaluate(site: ReviewSite) -> None:
    candidates = [
        Candidate(label="template", model=read_model("template/v1")),
        Candidate(
            label="template-careless", model=read_model("template/v1", {"error_rate": CARELESS})
        ),
    ]
    asyncio.run(
        evaluate_release(RELEASE, candidates, site.settings, SilentProgress(), Conditions(runs=2))
    )
    shown = _other_words(site)
    changed = Conditions(shown=shown, prompting=PromptingStrategy(tools=shown.label))
    for conditions in (Conditions(), changed):
        asyncio.run(
            evaluate_release(FIRST, candidates[1:], site.settings, SilentProgress(), conditions)
        )


def _other_words(site: ReviewSite) -> ShownTools:
    """The tool that is most often due, by another name and in other words."""
    tool = site.value(_MOST_DUE, FIRST)
    words = {
        "name": f"{tool}.v2",
        "description": {"en": "Does what its name says, for those who know what they want."},
    }
    return read_changes(site.warehouse, FIRST, {"tools": {tool: words}})


_ASKED = "select distinct subject from review_requests where kind = ? order by subject"
_MOST_DUE = """
    select gold -> 0 ->> 'tool' as tool from samples join release_samples on subject = key
    where release = ? and language = 'en' group by tool order by count(*) desc, tool limit 1
"""
