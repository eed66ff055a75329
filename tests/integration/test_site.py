"""The docs as a site: a page for each of docs/, a search over all, no broken link and nothing
from elsewhere.
"""

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

TOP = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    words = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(folder),
    ]
    own = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=False, env=own)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_has_a_page_and_is_found_by_its_words(site: Path) -> None:
    pages = {
        path.relative_to(TOP / "docs").with_suffix(".html") for path in (TOP / "docs").rglob("*.md")
    }
    pages = {page.with_stem("index") if page.stem == "README" else page for page in pages}
    assert [str(page) for page in sorted(pages) if not (site / page).is_file()] == []
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]
    assert any(
        one["location"].startswith("sql.html") and "reviewers_and_readers" in one["text"]
        for one in found
    )
    assert {one["location"] for one in found} >= {
        "index.html",
        "bench.html",
        "changelog.html",
        "decisions/index.html",
    }


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    broken, elsewhere = [], []
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for name, address in re.findall(
            r'<(a|img|link|script)\b[^>]*?(?:href|src)="([^"]*)"', text
        ):
            parts = urlsplit(unescape(address))
            if parts.scheme in {"http", "https"}:
                elsewhere += [address] if name != "a" else []
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if parts.scheme in {"", "file"} and page.name != "404.html" and not target.exists():
                broken.append((page.name, address))
            elif parts.fragment and target.suffix == ".html" and page.name != "404.html":
                there = target.read_text(encoding="utf-8")
                if f'id="{unquote(parts.fragment)}"' not in there:
                    broken.append((page.name, address))
    assert (broken, elsewhere) == ([], [])


def test_language_models_find_a_list_of_all_pages_and_their_text(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    title, summary, *sections = re.split(r"\n\n(?:## )?", listed.strip())
    assert title == "# callwright"
    assert summary.startswith("> Function-calling datasets")
    assert "Start" in sections
    assert sections[-2] == "Optional"
    links = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\)(?:: .+)?$", listed, re.MULTILINE)
    assert len(links) == listed.count("\n- ") > 40
    for name, address in links:
        assert (site / address).read_text(encoding="utf-8").startswith(f"# {name}"), address
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    assert "# Recipes and settings" in whole
    assert "# Changelog" not in whole
