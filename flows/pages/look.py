"""What every page is rendered with: the copy, how links are written, templates and words."""

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader

from callwright.annotation.screens import audit_words_in, words_in
from callwright.flows.stages import all_stages, prompt_paths
from callwright.language.packs import packaged
from callwright.llm.prompts import version_at
from callwright.warehouse.browsing import SampleDetail, read_samples
from callwright.warehouse.records import DEFAULT_LANGUAGE
from callwright.warehouse.store import Warehouse
from callwright.warehouse.templates import sandbox

Query = Mapping[str, str]
# The address of a path with a query, "" where this copy has no such page.
Link = Callable[[str, Mapping[str, str]], str]
ASSETS = ("page.css", "page.js")


class Look(NamedTuple):
    """The state for rendering pages from a copy of the warehouse, made at `copied_at`.

    `kept` are the keys of the samples that are written as files, where no server answers a form;
    None if pages are served. `ahead` holds samples that were read before their pages are made,
    many by one query.
    """

    warehouse: Warehouse
    copied_at: datetime
    link: Link
    kept: AbstractSet[str] | None = None
    ahead: Mapping[str, SampleDetail] = MappingProxyType({})

    def read_sample(self, key: str) -> SampleDetail | None:
        """Return a sample with all its details; None if there is none."""
        return self.ahead.get(key) or read_samples(self.warehouse, [key]).get(key)

    def to(self, path: str, **query: object) -> str:
        """Return the address of a page, "" if this copy has none; empty parameters are left out."""
        return self.link(
            path, {name: str(value) for name, value in query.items() if value not in {"", None}}
        )

    def render(self, template: str, **values: Any) -> str:  # noqa: ANN401 - templates take any record
        """Render a template for this copy."""
        return render(template, look=self, to=self.to, **values)


def served_address(path: str, query: Query) -> str:
    """Return the address of a page on the server."""
    return f"{path}?{urlencode(query)}" if query else path


def render(template: str, **values: Any) -> str:  # noqa: ANN401 - as above
    """Render a template with these values."""
    return environment().get_template(template).render(**values)


def asset(name: str) -> str:
    """Return the text of the style sheet or the script."""
    return files("callwright.flows.pages").joinpath("templates", name).read_text(encoding="utf-8")


def page_number(query: Query) -> int:
    """Return the requested page number of a list, from 0."""
    given = query.get("page", "")
    return (
        min(int(given), 1_000_000)
        if given.isascii() and given.isdecimal() and len(given) < 9  # noqa: PLR2004
        else 0
    )


def share(part: float, whole: float) -> str:
    """Return a share as a percentage; a dash if there is nothing to divide by."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def _number(value: float | None, digits: int = 3) -> str:
    if value is None:
        return "–"
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def _counted(count: int, noun: str) -> str:
    """Return a count with its noun in singular or plural: 1 item, 2 items."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    minutes, seconds = divmod(round(value), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{value:.1f} s"


def _hours(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.1f} h" if value >= 1 else f"{60 * value:.0f} min"


def _money(value: float | None) -> str:
    return "–" if value is None else f"${value:,.4f}" if 0 < value < 1 else f"${value:,.2f}"


@cache
def environment() -> Environment:
    """Return the template environment, with the filters, words and plot macros that all use."""
    templates = PackageLoader("callwright.flows.pages", "templates")
    template_environment = sandbox(
        loader=templates, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    template_environment.filters |= {
        "number": _number,
        "counted": _counted,
        "seconds": _seconds,
        "hours": _hours,
        "money": _money,
    }
    template_environment.globals |= {
        "words": page_words() | {one.__name__: one for one in _WORDING},
        "share": share,
    }
    template_environment.globals["plots"] = template_environment.get_template("plots.html").module
    return template_environment


def page_words() -> Any:  # noqa: ANN401 - parsed YAML
    """Return the page's words for states, grades, verdicts, evidence and filters."""
    return packaged("callwright.flows.pages", "words.yaml")


class PromptText(NamedTuple):
    """A prompt that was sent to a model: its file and its text."""

    path: str
    text: str


def verdict_words(decision: str, grade: str, model: str) -> str:
    """Return words for a check's decision and its basis."""
    words: str = page_words()["verdicts"].get(decision, {}).get(grade, decision)
    return words.format(model=model or "a model")


def kind_words(kind: str) -> str:
    """Return the description of a kind; "" if it has none."""
    return words_in(DEFAULT_LANGUAGE).kind.get(kind, "")


def error_words(error_type: str) -> str:
    """Return an error type as words for a column head."""
    return error_type.replace("_", " ") or "no success"


def error_sentence(error_type: str) -> str:
    """Return a sentence on what is wrong with an answer of this error type."""
    return audit_words_in(DEFAULT_LANGUAGE).mistake.get(error_type, error_words(error_type))


def stage_question(name: str) -> str:
    """Return what a stage does or a check asks; "" if the stage no longer exists."""
    return next((stage.about for stage in all_stages() if stage.name == name), "")


def prompts_of(version: str, kept: Mapping[str, PromptText]) -> list[PromptText]:
    """Return the prompts of a version, as `kept` in the warehouse, else as shipped today."""
    found = (kept.get(one) or _prompts().get(one) for one in version.split("+"))
    return [one for one in found if one is not None]


@cache
def _prompts() -> Mapping[str, PromptText]:
    top = files("callwright.flows").joinpath("..")
    return {
        version_at(path): PromptText(path, top.joinpath(path).read_text(encoding="utf-8"))
        for path in prompt_paths().values()
    }


_WORDING = (verdict_words, kind_words, error_words, error_sentence, stage_question)
