"""Skills for coding agents: for each job a SKILL.md, which an agent reads when the job comes up."""

from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from callwright.warehouse.yaml_text import read_yaml

_FILE = "SKILL.md"
_MARK = "---\n"


class Skill(NamedTuple):
    """A skill: its name, when it is of use, and its whole text."""

    name: str
    description: str
    text: str


def read_skills() -> tuple[Skill, ...]:
    """Return the skills, by name."""
    texts = files("callwright.flows.agents").joinpath("skill_texts").iterdir()
    read = [_skill(one.read_text(encoding="utf-8")) for one in texts if one.name.endswith(".md")]
    return tuple(sorted(read))


def _skill(text: str) -> Skill:
    _, head, _ = text.split(_MARK, 2)
    told = read_yaml(head)
    return Skill(told["name"], told["description"], text)


def write_skills(folder: Path) -> list[Path]:
    """Write each skill to a folder of its name, and return the files."""
    written = []
    for skill in read_skills():
        path = folder / skill.name / _FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(skill.text, encoding="utf-8")
        written.append(path)
    return written
