"""What Label Studio's refusals mean, and what to do about each."""

from collections.abc import Mapping

from warehouse.errors import AnnotationError, CallwrightError, TransientError

_PASSING = frozenset({408, 425, 429})
_SHOWN = 300
_WRONG = 400
_BROKEN = 500


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
    if status is None or status < _WRONG or _is_page(body):
        return AnnotationError(
            f"What answers at {url} is not the root of a Label Studio ({status}: {said}). Check the URL."
        )
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
    text = body.get("detail", body) if isinstance(body, Mapping) else body
    return " ".join(str(text).split())[:_SHOWN] or "no explanation"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    wish = {name.lower(): value for name, value in headers.items()}.get("retry-after", "")
    return float(wish) if wish.isdecimal() else None
