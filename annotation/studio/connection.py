"""Connections to Label Studio: by URL and token, or by a browser session.

The client of Label Studio is used in this module only.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlsplit

from callwright.warehouse.errors import AnnotationError, CallwrightError, TransientError
from callwright.warehouse.extras import require_extra

if TYPE_CHECKING:
    from tenacity import RetryCallState, Retrying


_ATTEMPTS = 5
_LONGEST_WAIT = 20.0
_ROOM_IN_A_URL = 5_000  # characters: proxies in front of a server often stop at 8 KB
_ROOM_ON_THIS_MACHINE = 40_000  # no proxy between; Label Studio itself reads 64 KB

T = TypeVar("T")
_PASSING = frozenset({408, 425, 429})
_SHOWN = 300
_SHOWN_OF_FAULTS = 600
_WRONG = 400
_BROKEN = 500
_EVERYWHERE = "non_field_errors"


class StudioConnection:
    """A client of one Label Studio, by URL and token; it connects at the first request."""

    def __init__(self, url: str, token: str, *, timeout: float, pause: float) -> None:
        """Connect to `url`; the first retry comes after `pause` seconds, each next after double."""
        require_extra("review")
        self.url = url
        self._token = token
        self._timeout = timeout
        self._pause = pause

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        http = self.__dict__.pop("_http", None)
        if http is not None:
            http.close()
        self.__dict__.pop("client", None)

    @cached_property
    def client(self) -> Any:  # noqa: ANN401 - the vendor's client has no types that mypy can use
        """The vendor's client; only `ask` and `translated` translate its errors."""
        from label_studio_sdk import LabelStudio as Client

        with self.translated():  # an expired personal access token is found here
            return Client(
                base_url=self.url,
                api_key=self._token,
                httpx_client=self._http,
                timeout=self._timeout,
                max_retries=0,
            )

    def ask(self, action: Callable[..., T], *args: object, **kwargs: object) -> T:
        """Return the result of `action`, retried a limited number of times on temporary errors."""
        for attempt in self.retrying():
            with attempt, self.translated():
                return action(*args, **kwargs)
        raise AssertionError("tenacity returns or raises")

    def retrying(self) -> "Retrying":
        """Return the retry policy for a request."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        retry = retry_if_exception_type(TransientError)
        stop = stop_after_attempt(_ATTEMPTS)
        return Retrying(retry=retry, stop=stop, wait=self._wait, reraise=True)

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn the vendor's exceptions into errors of ours."""
        import httpx
        from label_studio_sdk.core.api_error import ApiError

        try:
            yield
        except ApiError as error:
            raise refusal(self.url, error.status_code, error.body, error.headers) from error
        except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise unreachable(self.url, error) from error
        except (httpx.TransportError, json.JSONDecodeError, UnicodeDecodeError) as error:
            raise interrupted(self.url, error) from error

    def fitting(self, items: Sequence[T]) -> Iterator[Sequence[T]]:
        """Yield the items in slices that fit into a URL."""
        room = _ROOM_ON_THIS_MACHINE if is_loopback(self.url) else _ROOM_IN_A_URL
        start = used = 0
        for end, item in enumerate(items):
            length = len(quote(json.dumps(item), safe="")) + len("%2C")
            if used + length > room and end > start:
                yield items[start:end]
                start, used = end, 0
            used += length
        if start < len(items):
            yield items[start:]

    @cached_property
    def _http(self) -> Any:  # noqa: ANN401 - the vendor's transport, imported only when first needed
        import httpx

        # A proxy of the environment is for the way out, not for this machine.
        trust_env = not is_loopback(self.url)
        return httpx.Client(timeout=self._timeout, follow_redirects=True, trust_env=trust_env)

    def _wait(self, state: "RetryCallState") -> float:
        error = state.outcome.exception() if state.outcome else None
        wish = error.retry_after if isinstance(error, TransientError) else None
        return min(
            _LONGEST_WAIT,
            wish if wish is not None else self._pause * 2.0 ** (state.attempt_number - 1),
        )


def is_loopback(url: str) -> bool:
    """Whether a URL points to this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class MissingError(AnnotationError):
    """The task or project does not exist any more; somebody deleted it."""


def refusal(
    url: str, status: int | None, body: object, headers: Mapping[str, str] | None = None
) -> CallwrightError:
    """Return the error for an unsuccessful response."""
    reason = _reason(body)
    if status in _PASSING or (status is not None and status >= _BROKEN):
        lower = {name.lower(): value for name, value in (headers or {}).items()}
        wish = lower.get("retry-after", "")
        problem = (
            f"The Label Studio at {url} answered {status}: {reason}. It may be busy; try again"
        )
        return TransientError(f"{problem} in a moment.", float(wish) if wish.isdecimal() else None)
    if status in (401, 403):
        return AnnotationError(
            f"The Label Studio at {url} refused the token ({status}: {reason}). Copy a valid"
            " token from its page Account & Settings and give it to callwright. A legacy"
            " token works only if the organization allows it."
        )
    is_good = HTTPStatus.OK <= (status or 0) < HTTPStatus.MULTIPLE_CHOICES
    if is_good and not _is_page(body):
        return TransientError(
            f"The Label Studio at {url} did not finish its answer, which is not valid JSON"
            f" ({status}: {reason})."
        )
    if status is None or status < _WRONG or _is_page(body):
        return AnnotationError(
            f"The address {url} is not the root of a Label Studio server ({status}: {reason})."
            " Check the URL."
        )
    if status == HTTPStatus.NOT_FOUND:
        return MissingError(
            f"The Label Studio at {url} did not find what was requested (404: {reason})."
        )
    return AnnotationError(f"The Label Studio at {url} refused ({status}): {reason}.")


def unreachable(url: str, problem: Exception) -> AnnotationError:
    """Return the error for a URL where no server answers."""
    return AnnotationError(
        f"No Label Studio answers at {url} ({problem}). Start one with `callwright review serve`,"
        " or set the URL of a running one."
    )


def interrupted(url: str, problem: Exception) -> TransientError:
    """Return the error for a response that broke off or took too long."""
    return TransientError(
        f"The Label Studio at {url} did not finish its answer ({type(problem).__name__}:"
        f" {problem})."
    )


def _is_page(body: object) -> bool:
    """Whether the answer is an HTML page; Label Studio's API answers in JSON."""
    return isinstance(body, str) and body.lstrip().startswith("<")


def _reason(body: object) -> str:
    if _is_page(body):
        return "a page for browsers"
    if not isinstance(body, Mapping):
        return _short(str(body), _SHOWN) or "no explanation"
    faults = "; ".join(_faults(body.get("validation_errors")))
    detail = _short(str(body.get("detail", "" if faults else body)), _SHOWN)
    text = ": ".join(filter(None, [detail, _short(faults, _SHOWN_OF_FAULTS)]))
    return text.removesuffix(".") or "no explanation"


def _faults(found: object) -> Iterator[str]:
    """Yield Label Studio's error messages by field, from lists and objects of any depth."""
    if isinstance(found, Mapping):
        for name, inner in found.items():
            text = "; ".join(_faults(inner))
            if text:
                yield text if name == _EVERYWHERE else f"{name}: {text}"
    elif isinstance(found, list | tuple):
        for inner in found:
            yield from _faults(inner)
    elif found:
        yield str(found)


def _short(text: str, most: int) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else f"{plain[:most]}…"
