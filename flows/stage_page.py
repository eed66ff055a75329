"""docs/stages.md, written from the table of stages: `python -m flows.stage_page > docs/stages.md`."""

import sys

from flows.stages import STAGES

HEAD = """# The stages

This page is generated from the table in `flows/stages.py` (`make docs`); a test fails when it is stale.

A record goes through the stages of its group in order. At every stage, entered = passed + rejected + failed + waiting, each
with a reason, kept in the table `outcomes` and counted in the view `funnel`. A check that proves its sample passes it on; one
that can't (*unproved*) passes it on too, and people are asked at the stage `review`; one that *contradicts* it sends it to
people at once. The check `scenario` comes before anything is made: what it doesn't prove is rejected.
"""


def stage_page() -> str:
    """The page as Markdown."""
    lines = [HEAD]
    for group in dict.fromkeys(stage.group for stage in STAGES):
        lines += [
            f"\n## {group}\n",
            "| stage | reads | yields | role | prompts | source | what it does |",
            "|---|---|---|---|---|---|---|",
        ]
        for stage in STAGES:
            if stage.group == group:
                prompts = ", ".join(f"`{path}`" for path in stage.templates)
                cells = (
                    f"`{stage.name}`",
                    stage.reads,
                    stage.yields,
                    stage.role or "",
                    prompts,
                    stage.source,
                    stage.about,
                )
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(stage_page())
