"""The report's plots, as HTML fragments."""

from collections.abc import Sequence
from typing import Any

from flows.report.facts import FUNNEL_OUTCOMES, ReportFacts
from warehouse.rows import Row

_COLOURS = {"passed": "#2f7d5b", "rejected": "#b3423f", "failed": "#d98b2b", "waiting": "#4a6fa5"}
_MODELS = ("#2f7d5b", "#4a6fa5", "#d98b2b", "#7a5195", "#b3423f", "#5d6d7e")
_LAYOUT = {
    "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
    "font": {"family": "system-ui, sans-serif", "size": 13},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "legend": {"orientation": "h", "y": 1.12},
}


def funnel_plot(facts: ReportFacts) -> str:
    """One bar a stage, from the first on top, cut by what became of the records."""
    stages = [row["stage"] for row in facts.funnel]
    bars = [
        {
            "type": "bar", "orientation": "h", "name": outcome, "y": stages,
            "x": [int(row[outcome]) for row in facts.funnel], "marker": {"color": _COLOURS[outcome]},
        }
        for outcome in FUNNEL_OUTCOMES
    ]  # fmt: skip
    layout = {"barmode": "stack", "yaxis": {"autorange": "reversed", "automargin": True}, "xaxis": {"title": "records"}}
    return _figure(bars, layout, 60 + 34 * len(stages))


def category_plot(facts: ReportFacts) -> str:
    """Accepted samples by category."""
    bar = {
        "type": "bar", "orientation": "h", "y": [row["category"] for row in facts.categories],
        "x": [row["samples"] for row in facts.categories], "marker": {"color": _COLOURS["passed"]},
    }  # fmt: skip
    layout = {"yaxis": {"autorange": "reversed", "automargin": True}, "xaxis": {"title": "accepted samples"}}
    return _figure([bar], layout, 60 + 24 * len(facts.categories))


def score_plot(facts: ReportFacts, release: str, slice_by: str, metric: str = "args_acc") -> str:
    """A metric by kind, category or language, one bar a model."""
    rows = [
        row for row in facts.scores
        if row["release"] == release and row["slice_by"] == slice_by and row["metric"] == metric
    ]  # fmt: skip
    models = list(dict.fromkeys(row["candidate"] for row in rows))
    bars = [_model_bar(rows, model, _MODELS[place % len(_MODELS)]) for place, model in enumerate(models)]
    layout = {"barmode": "group", "yaxis": {"range": [0, 1], "title": metric}, "xaxis": {"automargin": True}}
    return _figure(bars, layout, 320) if bars else ""


def _model_bar(rows: Sequence[Row], model: str, colour: str) -> dict[str, Any]:
    mine = [row for row in rows if row["candidate"] == model]
    return {
        "type": "bar", "name": model, "x": [row["slice_value"] for row in mine], "y": [row["value"] for row in mine],
        "customdata": [row["count"] for row in mine], "marker": {"color": colour},
        "hovertemplate": "%{x}: %{y:.3f} of %{customdata} calls",
    }  # fmt: skip


def error_plot(facts: ReportFacts, release: str) -> str:
    """How often each model went wrong in which way."""
    rows = [row for row in facts.errors if row["release"] == release]
    models = list(dict.fromkeys(row["candidate"] for row in rows))
    kinds = list(dict.fromkeys(row["error_type"] for row in rows))
    bars = [
        {
            "type": "bar", "name": kind, "x": models, "marker": {"color": _MODELS[place % len(_MODELS)]},
            "y": [
                sum(int(row["predictions"]) for row in rows if row["candidate"] == model and row["error_type"] == kind)
                for model in models
            ],
        }
        for place, kind in enumerate(kinds)
    ]  # fmt: skip
    return _figure(bars, {"barmode": "stack", "yaxis": {"title": "predictions"}}, 340) if bars else ""


def _figure(data: list[dict[str, Any]], layout: dict[str, Any], height: int) -> str:
    import plotly.io

    figure = {"data": data, "layout": _LAYOUT | layout | {"height": height}}
    return str(
        plotly.io.to_html(
            figure, full_html=False, include_plotlyjs=False, config={"displaylogo": False, "responsive": True}
        )
    )
