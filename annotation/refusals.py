"""What Label Studio's refusals mean, and what to do about each."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus

from warehouse.errors import AnnotationError, CallwrightError, TransientError

_PASSING = frozenset({408, 425, 429})
_SHOWN = 300
_SHOWN_OF_FAULTS = 600
_WRONG = 400
_BROKEN = 500
_EVERYWHERE = "non_field_errors"


class MissingError(AnnotationError):
    """What was asked for is not there: a task or a project that somebody deleted."""


def refusal(url: str, status: int | None, body: object, headers: Mapping[str, str] | None = None) -> CallwrightError:
    """The error for an answer that is not the one asked for."""
    said = _said(body)
    if status in _PASSING or (status is not None and status >= _BROKEN):
        return TransientError(
            f"The Label Studio at {url} answered {status}: {said}. It may be busy; try again in a moment.",
            _retry_after(headers or {}),
        )
    if status in (401, 403):
        return AnnotationError(
            f"The Label Studio at {url} refused the token ({status}: {said}). Copy a valid one from its page Account & "
            "Settings, and give it to callwright; a legacy token works only where the organization allows it."
        )
    if status is not None and HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES and not _is_page(body):
        return TransientError(
            f"The Label Studio at {url} did not finish its answer ({status}, which is no JSON: {said})."
        )
    if status is None or status < _WRONG or _is_page(body):
        return AnnotationError(
            f"What answers at {url} is not the root of a Label Studio ({status}: {said}). Check the URL."
        )
    if status == HTTPStatus.NOT_FOUND:
        return MissingError(f"The Label Studio at {url} does not have that (404: {said}).")
    return AnnotationError(f"The Label Studio at {url} refused ({status}): {said}.")


def unreachable(url: str, problem: Exception) -> AnnotationError:
    """The error for a URL where nobody answers."""
    return AnnotationError(
        f"No Label Studio answers at {url} ({problem}). Start one with `callwright review serve`, or set the URL of a "
        "running one."
    )


def interrupted(url: str, problem: Exception) -> TransientError:
    """The error for an answer that broke off or took too long."""
    return TransientError(f"The Label Studio at {url} did not finish its answer ({type(problem).__name__}: {problem}).")


def _is_page(body: object) -> bool:
    """Whether the answer is a page for browsers: Label Studio's interface for programs answers in JSON."""
    return isinstance(body, str) and body.lstrip().startswith("<")


def _said(body: object) -> str:
    if _is_page(body):
        return "a page for browsers"
    if not isinstance(body, Mapping):
        return _short(str(body), _SHOWN) or "no explanation"
    faults = "; ".join(_faults(body.get("validation_errors")))
    detail = _short(str(body.get("detail", "" if faults else body)), _SHOWN)
    told = ": ".join(filter(None, [detail, _short(faults, _SHOWN_OF_FAULTS)]))
    return told.removesuffix(".") or "no explanation"


def _faults(found: object) -> Iterator[str]:
    """What Label Studio found wrong, field by field: lists and objects of any depth hold sentences."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            told = "; ".join(_faults(inner))
            if told:
                yield told if name == _EVERYWHERE else f"{name}: {told}"
    elif isinstance(found, list | tuple):
        for inner in found:
            yield from _faults(inner)
    elif found:
        yield str(found)


def _short(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[:most]}…"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    wish = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return float(wish) if wish.isdecimal() else None
