"""The site: which addresses there are, and what each shows. The same pages are served, or written as files."""

import re
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote

from callwright.flows.pages.builds import build_page, builds_page, outcomes_page
from callwright.flows.pages.evaluations import compare_page, evaluations_page, items_page, release_page
from callwright.flows.pages.look import Look, Query
from callwright.flows.pages.releases import contents_page
from callwright.flows.pages.report import overview_page
from callwright.flows.pages.reviews import reviews_page
from callwright.flows.pages.samples import sample_page, samples_page


class Address(NamedTuple):
    """An address pattern, `*` for a name, and what shows it: None where there is nothing of that name."""

    pattern: str
    show: Callable[..., str | None]


ADDRESSES: tuple[Address, ...] = (
    Address("/", overview_page),
    Address("/samples", samples_page),
    Address("/samples/*", sample_page),
    Address("/evaluations", evaluations_page),
    Address("/evaluations/*", release_page),
    Address("/evaluations/*/contents", contents_page),
    Address("/evaluations/*/items", items_page),
    Address("/evaluations/*/compare", compare_page),
    Address("/reviews", reviews_page),
    Address("/builds", builds_page),
    Address("/builds/*", build_page),
    Address("/builds/*/outcomes", outcomes_page),
)
_PATTERNS = tuple(
    (re.compile(re.escape(address.pattern).replace(r"\*", "([^/]+)")), address.show) for address in ADDRESSES
)


def show(look: Look, path: str, query: Query) -> str | None:
    """The page at a path, None where there is none; names in the path are percent-encoded."""
    for pattern, page in _PATTERNS:
        found = pattern.fullmatch(path)
        if found:
            return page(look, query, *map(unquote, found.groups()))
    return None


def path_to(*parts: str) -> str:
    """The path of names that may hold anything."""
    return "".join(f"/{quote(part, safe='')}" for part in parts)
