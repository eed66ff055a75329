"""A work folder in which ten questions of every review kind wait for people."""

import asyncio
import json
from pathlib import Path
from typing import Any

from callwright.annotation.multi_step_review import offered_strikes
from callwright.annotation.screens import CORRECTION, DISAMBIGUATION
from callwright.flows.data_audit.judgements import ask_about_findings
from callwright.flows.data_audit.running import audit_data, audited_files
from callwright.flows.evaluation.evaluating import evaluate_release
from callwright.flows.evaluation.evaluation_run import Conditions
from callwright.flows.progress import SilentProgress
from callwright.flows.recipe import Candidate
from callwright.flows.review.asking_again import draw_audits
from callwright.flows.review.questions import DOUBTFUL, SPOT_CHECK, ReviewQuestion, ask
from callwright.flows.review.resolutions import check_made_tools
from callwright.generators.catalogs.own_catalogs import seed_tools
from callwright.generators.conversations import CONVERSATION
from callwright.llm.models import read_model
from callwright.warehouse.records import Language, Tool
from callwright.warehouse.releases import create_release
from tests.support.flows.competing import can_have_a_twin, doubt_the_path, let_wait, with_twins
from tests.support.flows.paper_studio import PaperStudio
from tests.support.flows.review_sites import ReviewSite, erring_recipe, open_site
from tests.support.flows.small_builds import build, unmeasured_recipe

EACH = 10
RELEASE = "v1"
TALKS = {
    "name": "talks",
    "seed": 4,
    "tools": [{"seed": ["Hotels", "Flights", "Restaurants", "Shopping"]}],
    "samples": {CONVERSATION: EACH},
    "spare": 1.0,
    "review": {"spot_checks": 0, "dialogue_acts": EACH},
}
PATHS = {
    "name": "paths",
    "tools": [{"environment": "travel"}],
    "samples": {"multi_step": 32},
    "variants": 1,
    "shard_size": 50,
    "review": {"spot_checks": 5},
}
STRAYING = {"omitted_call": 0.3, "wrong_type": 0.2, "wrong_argument": 0.2}
SYNONYMS = {
    "set": "choose",
    "list": "show",
    "start": "run",
    "add": "create",
    "snooze": "delay",
    "send": "write",
    "search": "find",
    "create": "open",
    "mute": "silence",
    "share": "show",
    "forward": "pass",
}
ANSWERING = dict.fromkeys(
    ("wrong_tool", "missing_argument", "wrong_argument", "malformed_json"), 0.15
)


def fill_site(home: Path, language: Language = "en") -> ReviewSite:
    """Build small datasets in a work folder, and see that there is enough to ask about; nothing
    is pushed.
    """
    site = open_site(home, PaperStudio())
    ask_about_samples(site, language)
    _ask_about_answers(site)
    build(unmeasured_recipe(**TALKS, languages=[language]), site.settings)
    _ask_about_paths(site)
    ask_about_tools(site, language)
    _ask_about_findings(site)
    return site


def _ask_about_findings(site: ReviewSite) -> None:
    """Audit golds that are in another unit than their parameter wants, and ask about them."""
    amount = {"type": "integer", "description": "The amount in cents."}
    parameters = {"type": "dict", "properties": {"amount": amount}, "required": ["amount"]}
    tool = {"name": "refund", "description": "Refund a payment.", "parameters": parameters}
    path = site.settings.home / "bfcl" / "BFCL_v4_mine.json"
    answers = path.parent / "possible_answer" / path.name
    answers.parent.mkdir(parents=True)
    with path.open("w") as questions, answers.open("w") as golds:
        for at in range(EACH):
            said = {"role": "user", "content": f"Please refund ${at + 40}."}
            question = {"id": f"mine_{at}", "question": [[said]], "function": [tool]}
            questions.write(json.dumps(question) + "\n")
            gold = {"id": f"mine_{at}", "ground_truth": [{"refund": {"amount": [at + 40]}}]}
            golds.write(json.dumps(gold) + "\n")
    audit = asyncio.run(audit_data(site.warehouse, audited_files([path], "bfcl")))
    assert ask_about_findings(audit) == EACH


def asked(site: ReviewSite) -> dict[str, int]:
    """How many questions of each review kind wait."""
    rows = site.rows("select kind, count(*) as n from review_requests group by kind")
    return {row["kind"]: row["n"] for row in rows}


def ask_about_samples(site: ReviewSite, language: Language, **changes: Any) -> None:
    """Requests and conversations, some of them in doubt."""
    samples = {"perfect": 7, "imperfect": 2, "sQsA": 4, "SO_case2": 3, "irrelevant": 1}
    review = {"spot_checks": 10}
    changes = {
        "seed": 16
    } | changes  # one by which the first of them can be edited, accepted and rejected
    build(
        erring_recipe(
            name="samples", samples=samples, review=review, languages=[language], **changes
        ),
        site.settings,
    )


def _ask_about_answers(site: ReviewSite) -> None:
    """What candidates answered to all that has landed so far."""
    create_release(site.warehouse, RELEASE)
    candidates = [
        Candidate(label=label, model=read_model("template/v1", {"error_rate": rates, "seed": seed}))
        for seed, (label, rates) in enumerate({"near": {}, "careless": ANSWERING}.items())
    ]
    asyncio.run(
        evaluate_release(RELEASE, candidates, site.settings, SilentProgress(), Conditions())
    )
    draw_audits(RELEASE, site.settings, (), EACH)


def _ask_about_paths(site: ReviewSite) -> None:
    """Corrections that the build does not ask about by itself, and samples of other paths in
    which entries compete.
    """
    models = {"generator": {"name": "template/v1", "error_rate": STRAYING}}
    report = build(unmeasured_recipe(**PATHS, languages=["en"], models=models), site.settings)
    free = site.rows(_FREE_PATHS, report.build)
    made = [(row, site.sample(row["sample"])) for row in free]
    twins = [
        (row, with_twins(one, 1 + at % 3))
        for at, (row, one) in enumerate(made)
        if can_have_a_twin(one)
    ]
    competing = [(row, sample) for row, sample in twins if offered_strikes(sample)][:EACH]
    others = [row["path"] for row in free if row not in [row for row, _ in competing]]
    reason = "Drawn from the corrected paths, to see how good the corrections are."
    more = others[: EACH - asked(site)[CORRECTION]]
    ask(
        site.warehouse,
        [ReviewQuestion(path, SPOT_CHECK, reason, report.build, CORRECTION) for path in more],
    )
    for row, sample in competing:
        let_wait(site, sample, row["sample"])
        doubt_the_path(site, sample.key, "Other entries fit as well.")
    reason = "path: Other entries fit as well."
    ask(
        site.warehouse,
        [
            ReviewQuestion(one.key, DOUBTFUL, reason, report.build, DISAMBIGUATION)
            for _, one in competing
        ],
    )


def ask_about_tools(site: ReviewSite, language: Language) -> None:
    """A toolset that has many tools a second time, in slightly other words."""
    tools = [tool for tool in seed_tools([language]) if tool.category in ("Messages", "Clock")]
    twins = [twin for tool in tools if (twin := _reworded(tool)).name != tool.name][:EACH]
    site.warehouse.put([*tools, *twins])
    rows: list[dict[str, Any]] = [
        {"toolset": "set", "tool": tool.key, "draft": tool.key} for tool in (*tools, *twins)
    ]
    site.warehouse.put_rows({"made_tools": rows})
    check_made_tools(site.warehouse, "set")


def _reworded(tool: Tool) -> Tool:
    """The same tool under another verb, where there is one."""
    *place, name = tool.name.split(".")
    verb = next((verb for verb in SYNONYMS if name.startswith(verb)), "")
    other = SYNONYMS.get(verb, verb)
    said = (
        f"{other.capitalize()}{tool.description.removeprefix(verb.capitalize())}"
        if tool.language == "en"
        else f"为用户{tool.description}"
    )
    return tool.with_changes(
        name=".".join([*place, name.replace(verb, other, 1)]), description=said
    )


# Paths that nobody is asked about, each with a sample that was made after it and has landed.
_FREE_PATHS = """
    select b.draft as path, min(b.sample) as sample
    from build_samples b join drafts d on d.key = b.draft and d.type = 'GoalPath'
    where b.build = ? and json_array_length(d.body -> 'corrections') > 0
        and b.draft not in (select subject from review_requests) and b.sample in (select key from accepted_samples)
        and b.sample not in (select subject from review_requests)
    group by b.draft order by b.draft
"""
