"""The files of OpenAI's batches: a request a line, and a result a line."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import orjson

ENDPOINT = "/v1/chat/completions"


def write_line(key: bytes, body: bytes) -> bytes:
    """A request as a line; its body is JSON already."""
    return b'{"custom_id":"%s","method":"POST","url":"%s","body":%s}' % (key.hex().encode(), ENDPOINT.encode(), body)


def form(lines: bytes) -> tuple[bytes, str]:
    """A file of requests as a form, with the form's content type."""
    mark = uuid4().hex
    head = (
        f'--{mark}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--{mark}\r\n'
        'Content-Disposition: form-data; name="file"; filename="requests.jsonl"\r\nContent-Type: application/jsonl\r\n\r\n'
    )
    return head.encode() + lines + f"\r\n--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def read_lines(content: bytes) -> Iterator[tuple[bytes, dict[str, Any]]]:
    """The lines of a result file that are ours and whole; what lacks one is asked again."""
    for line in content.splitlines():
        read = document(line)
        if isinstance(read, dict):
            try:
                yield bytes.fromhex(str(read.get("custom_id"))), read
            except ValueError:
                continue


def document(content: bytes) -> object:
    """What a body says, None where it is no JSON."""
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
