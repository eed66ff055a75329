"""Pages of the site besides docs/: README first, bench figures, changelog, lists of two folders.

Beside the pages stand llms.txt, which lists them for language models, and llms-full.txt, which has
the text of those that users read.
"""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

# Pages that stand elsewhere in the repository, and the links by which others lead to them.
OTHERS = {"index.md": "README.md", "bench.md": "bench/README.md", "changelog.md": "CHANGELOG.md"}
INSIDE = "Inside"  # the section of those who change callwright: optional, and in no full text
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
    heads = [_head(page.read_text(encoding="utf-8")) for page in pages]
    return f"# {title}\n\n" + "".join(
        f"- [{head}]({page.name})\n" for head, page in zip(heads, pages, strict=True)
    )


def on_nav(nav: Navigation, config: MkDocsConfig, **_: object) -> None:
    """Write llms.txt, llms-full.txt, and each page as it is, which llms.txt leads to."""
    listed, texts = [f"# {config.site_name}\n\n> {config.site_description}\n"], []
    for item in nav.items:
        title = item.title if isinstance(item, Section) else "Overview"
        listed.append(f"\n## {'Optional' if title == INSIDE else title}\n\n")
        for page in nav.pages:
            if item not in (page, *page.ancestors):
                continue
            uri, text = page.file.src_uri, _text(page)
            told = config.site_description if page.is_homepage else _summary(text)
            listed.append(f"- [{_head(text)}]({uri}){told and f': {told}'}\n")
            texts += [] if title == INSIDE else [f"<!-- {uri} -->\n\n{text}"]
            _write(config, uri, text)
    _write(config, "llms.txt", "".join(listed))
    _write(config, "llms-full.txt", "\n\n".join(texts))


def _write(config: MkDocsConfig, name: str, text: str) -> None:
    path = Path(config.site_dir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _text(page: Page) -> str:
    return on_page_markdown(page.file.content_string, page)


def _head(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")


def _summary(text: str) -> str:
    """The first sentence of a page's first paragraph."""
    plain = re.sub(r"```.*?```|\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", text, flags=re.DOTALL)
    paragraphs = (" ".join(one.split()) for one in plain.split("\n\n")[1:])
    first = next((one for one in paragraphs if one[:1].isalpha()), "")
    return re.split(r"(?<=[.!?:;])\s", first, maxsplit=1)[0].rstrip(":;")
