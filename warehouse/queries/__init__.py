"""SQL longer than a line: one file per topic, with each statement under `-- name: …`.

`@name` stands for another statement of the file, `@topic.name` for one of another file, or for
what a caller fills in.
"""

import re
from functools import cache
from importlib.resources import files

_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PART = re.compile(r"@(\w+(?:\.\w+)?)")


def sql(name: str, **parts: object) -> str:
    """Return the full statement called `topic.name`; `parts` fill the places named in the file."""
    topic, _, _ = name.partition(".")

    def put_in(found: re.Match[str]) -> str:
        part = found[1]
        if part in parts:
            return str(parts[part])
        return sql(part if "." in part else f"{topic}.{part}", **parts)

    return _PART.sub(put_in, statements(topic)[name])


@cache
def statements(topic: str) -> dict[str, str]:
    """Return the statements of a file unchanged, by `topic.name`."""
    text = files(__name__).joinpath(f"{topic}.sql").read_text(encoding="utf-8")
    _, *pieces = _HEAD.split(text)
    return {
        f"{topic}.{name}": body.strip()
        for name, body in zip(pieces[::2], pieces[1::2], strict=True)
    }
