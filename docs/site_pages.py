"""Pages of the site besides docs/: README first, bench figures, changelog, lists of two folders."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Pages that stand elsewhere in the repository, and the links by which others lead to them.
OTHERS = {"index.md": "README.md", "bench.md": "bench/README.md", "changelog.md": "CHANGELOG.md"}
FOLDERS = {"extending": "Extending callwright", "decisions": "Decisions"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made of others."""
    docs = Path(config.docs_dir)
    made = {
        page: (docs.parent / source).read_text(encoding="utf-8") for page, source in OTHERS.items()
    }
    made |= {
        f"{folder}/index.md": _listed(docs / folder, title) for folder, title in FOLDERS.items()
    }
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links of the repository as links of the site."""
    if page.file.src_uri in OTHERS:
        markdown = re.sub(r"(\]\(|src=\")(?:\.\./)?docs/", r"\1", markdown)
    for here, there in OTHERS.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{re.escape(there)}(?=[)#])", f"]({here}", markdown)
    for folder in FOLDERS:
        markdown = markdown.replace(f"]({folder}/)", f"]({folder}/index.md)")
    return markdown


def _listed(folder: Path, title: str) -> str:
    """A page that lists a folder by the first heading of each page."""
    pages = sorted(folder.glob("*.md"))
    heads = [page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") for page in pages]
    return f"# {title}\n\n" + "".join(
        f"- [{head}]({page.name})\n" for head, page in zip(heads, pages, strict=True)
    )
