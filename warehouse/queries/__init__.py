"""SQL of our own that is longer than a line: a file a topic, in it each statement under `-- name:
…`.

`@name` stands for another statement of the file, `@topic.name` for one of another file, or for what
a caller puts in.
"""

import re
from functools import cache
from importlib.resources import files

_HEAD = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_PART = re.compile(r"@(\w+(?:\.\w+)?)")


def sql(name: str, **parts: object) -> str:
    """The statement called `topic.name`, whole; `parts` are put in where the file names them."""
    topic, _, _ = name.partition(".")

    def put_in(found: re.Match[str]) -> str:
        part = found[1]
        if part in parts:
            return str(parts[part])
        return sql(part if "." in part else f"{topic}.{part}", **parts)

    return _PART.sub(put_in, statements(topic)[name])


@cache
def statements(topic: str) -> dict[str, str]:
    """The statements of a file as they stand there, by `topic.name`."""
    text = files(__name__).joinpath(f"{topic}.sql").read_text(encoding="utf-8")
    _, *pieces = _HEAD.split(text)
    return {
        f"{topic}.{name}": body.strip()
        for name, body in zip(pieces[::2], pieces[1::2], strict=True)
    }
