"""The site: its addresses, and the page at each.

The same pages are served, or written as files.
"""

import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlencode

from callwright.flows.pages.evaluations import (
    compare_page,
    contents_page,
    evaluations_page,
    items_page,
    release_page,
    tools_page,
)
from callwright.flows.pages.look import ASSETS, Look, Query, asset
from callwright.flows.pages.report import (
    build_page,
    builds_page,
    outcomes_page,
    overview_page,
    reviews_page,
)
from callwright.flows.pages.samples import sample_page, samples_page
from callwright.warehouse.browsing import choose_samples, read_samples
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.store import Warehouse


class Address(NamedTuple):
    """An address pattern, `*` for a name, and what shows it; None if nothing has that name."""

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
    Address("/evaluations/*/tools", tools_page),
    Address("/reviews", reviews_page),
    Address("/builds", builds_page),
    Address("/builds/*", build_page),
    Address("/builds/*/outcomes", outcomes_page),
)
_PATTERNS = tuple(
    (re.compile(re.escape(address.pattern).replace(r"\*", "([^/]+)")), address.show)
    for address in ADDRESSES
)


def show(look: Look, path: str, query: Query) -> str | None:
    """Return the page at a path, None if there is none; names in the path are percent-encoded."""
    for pattern, page in _PATTERNS:
        found = pattern.fullmatch(path)
        if found:
            return page(look, query, *map(unquote, found.groups()))
    return None


SAMPLES = 500
PAGES = 5_000
_AT_ONCE = 200  # pages, whose samples are read by one query
_SAMPLE = re.compile(r"/samples/([^/]+)")
# stands in folders that the page was written to, which may be written again
_MARK = ".callwright-view"


class WrittenSite(NamedTuple):
    """The folder of the written site, its number of files, and how many samples it shows."""

    first: Path
    pages: int
    samples: int


class _PageNames:
    """The file names of pages, and the pages still to be written."""

    def __init__(self, kept: frozenset[str], most: int) -> None:
        self._kept = kept
        self._most = most
        self._files: dict[tuple[str, str], str] = {}
        self.waiting: deque[tuple[str, dict[str, str]]] = deque()

    def take(self, most: int) -> list[tuple[str, dict[str, str]]]:
        """Return the next pages to write."""
        return [self.waiting.popleft() for _ in range(min(most, len(self.waiting)))]

    def link(self, path: str, query: Query) -> str:
        """Return the file of a page, "" if it has none.

        Of a list only the first page has one, and of samples those that are kept.
        """
        if path.removeprefix("/") in ASSETS:
            return path.removeprefix("/")
        sample = _SAMPLE.fullmatch(path)
        if (sample and sample[1] not in self._kept) or "page" in query or "order" in query:
            return ""
        if path.endswith("/compare") and "kind" in query:  # a page a kind for each two candidates
            return ""
        if path == "/samples":
            return self._file(path, {}) + (f"#{urlencode(query)}" if query else "")
        return self._file(path, {} if sample else dict(query))

    def _file(self, path: str, query: dict[str, str]) -> str:
        page_key = path, urlencode(sorted(query.items()))
        if page_key not in self._files:
            if len(self._files) >= self._most:
                return ""
            self._files[page_key] = _file_name(*page_key)
            self.waiting.append((path, query))
        return self._files[page_key]

    def __len__(self) -> int:
        return len(self._files)


def write_site(
    copy: Warehouse, folder: Path, samples: int = SAMPLES, *, most: int = PAGES
) -> WrittenSite:
    """Write the page of a warehouse copy to a folder, with at most `most` files.

    The folder is empty, new, or was written by this function before.
    """
    _take(folder)
    with copy.reading():  # keeps the copy open from page to page
        chosen_keys = frozenset(choose_samples(copy, samples))
        names = _PageNames(chosen_keys, most)
        look = Look(
            copy, datetime.fromtimestamp(copy.path.stat().st_mtime, UTC), names.link, chosen_keys
        )
        names.link("/", {})
        while names.waiting:
            some = names.take(_AT_ONCE)
            keys = [
                unquote(sample[1])
                for sample in (_SAMPLE.fullmatch(path) for path, _ in some)
                if sample
            ]
            look = look._replace(ahead=read_samples(copy, keys))
            for path, query in some:
                page = show(look, path, query)
                if page is not None:
                    (folder / names.link(path, query).partition("#")[0]).write_text(
                        page, encoding="utf-8"
                    )
    for name in ASSETS:
        (folder / name).write_text(asset(name), encoding="utf-8")
    return WrittenSite(folder / "index.html", len(names), len(chosen_keys))


def _take(folder: Path) -> None:
    """Create the folder, or empty it if the site was written to it before.

    Raises ConfigurationError if it holds other files.
    """
    with suppress(FileNotFoundError):
        if any(folder.iterdir()) and not (folder / _MARK).exists():
            problem = f"{str(folder)!r} holds other files. Name a new or empty folder."
            raise ConfigurationError(problem)
        for old in (*folder.glob("*.html"), *(folder / name for name in ASSETS)):
            old.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).touch()


def _file_name(path: str, query: str) -> str:
    """Return a readable file name that is unique for each address."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-")[:60] or "index"
    plain = re.fullmatch(r"/|(/[a-z0-9]+)+", path) is not None and len(path) < 60 and not query  # noqa: PLR2004
    if plain:
        return f"{words}.html"
    return f"{words}-{blake2b(f'{path}?{query}'.encode(), digest_size=5).hexdigest()}.html"
