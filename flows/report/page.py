"""The report's page: facts and plots in one HTML file that opens without a network."""

from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from flows.report.facts import ReportFacts, read_facts
from flows.report.plots import category_plot, error_plot, funnel_plot, score_plot
from warehouse.rows import Row
from warehouse.store import Warehouse

_SLICES = ("kind", "category", "language")


def write_report(warehouse: Warehouse, path: Path) -> Path:
    """Write the report to `path`; what the warehouse lacks is named with the command that makes it."""
    import plotly.offline

    facts = read_facts(warehouse)
    releases = list(dict.fromkeys(row["release"] for row in facts.leaderboard))
    environment = Environment(undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(files("flows.report").joinpath("page.html").read_text(encoding="utf-8"))
    page = template.render(
        facts=facts,
        made_at=datetime.now(UTC),
        plotly=Markup(plotly.offline.get_plotlyjs()),  # noqa: S704 - the library's own script
        funnel=Markup(funnel_plot(facts)) if facts.funnel else "",  # noqa: S704 - plotly escapes its labels
        categories=Markup(category_plot(facts)) if facts.categories else "",  # noqa: S704
        releases=[
            {
                "name": release,
                "board": [row for row in facts.leaderboard if row["release"] == release and row["predictions"]],
                "kinds": [row for row in facts.kinds if row["release"] == release],
                "slices": _slices(facts, release),
                **_of_answers(facts, release),
                **_of_runs(facts, release),
                "errors": Markup(error_plot(facts, release)),  # noqa: S704
            }
            for release in releases
        ],
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    return path


def _of_answers(facts: ReportFacts, release: str) -> dict[str, list[Row]]:
    """What there is about plans of calls, and about conversations as wholes."""
    rows = [row for row in facts.answers if row["release"] == release]
    talks = [row for row in rows if row["call_turns"] and row["slice_by"] == "all"]
    return {"plans": [row for row in rows if row["plans"]], "talks": talks}


def _of_runs(facts: ReportFacts, release: str) -> dict[str, list[Row]]:
    """What there is about multi-step samples."""
    tables = {"domains": facts.domains, "parameter_types": facts.parameter_types, "steps": facts.steps}
    return {name: [row for row in rows if row["release"] == release] for name, rows in tables.items()}


def _slices(facts: ReportFacts, release: str) -> list[tuple[str, Markup]]:
    plots = ((name, score_plot(facts, release, name)) for name in _SLICES)
    return [(name, Markup(plot)) for name, plot in plots if plot]  # noqa: S704 - plotly escapes its labels
