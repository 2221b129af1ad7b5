"""The alerts that fire, from the operator's Alertmanager or Prometheus.

Only the address of the settings is requested: redirects are not followed, and nothing of a request
to the REST layer is part of it.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import urlsplit

import aiohttp
import msgspec
import structlog
from msgspec import Struct, field

from api.operations.schemas import AlertList, AlertView

log = structlog.get_logger()
TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1_048_576
MAX_ALERTS = 500
MAX_CHARS = 1_000  # of a text
ALERTMANAGER = "/api/v2/alerts?active=true&silenced=false&inhibited=false"
PROMETHEUS = "/api/v1/alerts"
NOT_CONFIGURED = "SWITCHROOM_ALERTS_URL is not set"
NOT_UNDERSTOOD = "the server of SWITCHROOM_ALERTS_URL answers, but not with alerts"
UNREACHABLE = "the server of SWITCHROOM_ALERTS_URL does not answer"
_SEVERITIES = ("page", "critical", "error", "ticket", "warning")
_Texts = dict[str, str]


class _Alert(Struct, frozen=True):
    """An alert in either form."""

    labels: _Texts = field(default_factory=dict)
    annotations: _Texts = field(default_factory=dict)
    state: str = ""  # of Prometheus
    active_at: str = field(name="activeAt", default="")  # of Prometheus
    starts_at: str = field(name="startsAt", default="")  # of Alertmanager


class _PrometheusData(Struct, frozen=True):
    alerts: tuple[_Alert, ...] = ()


class _PrometheusResponse(Struct, frozen=True):
    data: _PrometheusData


class AlertSource:
    """Reads the alerts of one server; without an address there are none."""

    def __init__(self, http: aiohttp.ClientSession, url: str | None) -> None:
        self._http = http
        self._url = url.rstrip("/") if url else None

    async def firing(self) -> AlertList:
        """Return the alerts, or the reason why they are not known."""
        if self._url is None:
            return AlertList((), 0, NOT_CONFIGURED)
        try:
            found = await self._read(self._url)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            log.warning("alerts not read", error=str(error) or "no response in time")
            return AlertList((), 0, UNREACHABLE)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("alerts not read", error=str(error))
            return AlertList((), 0, NOT_UNDERSTOOD)
        views = sorted(map(_view, found), key=_order)
        return AlertList(tuple(views[:MAX_ALERTS]), len(views), "")

    async def _read(self, url: str) -> list[_Alert]:
        """Read from Alertmanager, or else from Prometheus; raises DecodeError."""
        body = await self._get(f"{url}{ALERTMANAGER}")
        if body is not None:
            return msgspec.json.decode(body, type=list[_Alert])
        body = await self._get(f"{url}{PROMETHEUS}")
        decoded = msgspec.json.decode(body or b"", type=_PrometheusResponse)
        return [each for each in decoded.data.alerts if each.state == "firing"]

    async def _get(self, url: str) -> bytes | None:
        """Return a body; None if there is no such path. Raises DecodeError for other answers."""
        async with self._http.get(url, allow_redirects=False) as response:
            if response.status == HTTPStatus.NOT_FOUND:
                return None
            if response.status != HTTPStatus.OK:
                raise msgspec.DecodeError(f"HTTP {response.status}")
            body = bytearray()
            async for part in response.content.iter_any():
                body += part
                if len(body) > MAX_RESPONSE_BYTES:
                    raise msgspec.DecodeError(f"more than {MAX_RESPONSE_BYTES} bytes")
            return bytes(body)


def _view(alert: _Alert) -> AlertView:
    labels, notes = alert.labels, alert.annotations
    return AlertView(
        labels.get("alertname", "")[:MAX_CHARS],
        labels.get("severity", "")[:MAX_CHARS],
        alert.active_at or alert.starts_at,
        (notes.get("summary") or notes.get("description", ""))[:MAX_CHARS],
        _web_address(notes.get("runbook_url", "")),
        dict(_shown(labels)),
    )


def _shown(labels: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in sorted(labels.items()):
        if name not in {"alertname", "severity"}:
            yield name, value[:MAX_CHARS]


def _web_address(text: str) -> str:
    """Return an address that a page may link to; empty for another one."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    is_shown = parts.scheme in {"http", "https"} and parts.netloc and len(text) <= MAX_CHARS
    return text if is_shown else ""


def _order(alert: AlertView) -> tuple[int, str, str]:
    known = alert.severity in _SEVERITIES
    rank = _SEVERITIES.index(alert.severity) if known else len(_SEVERITIES)
    return rank, alert.name, alert.since


@asynccontextmanager
async def open_alert_source(url: str | None) -> AsyncIterator[AlertSource]:
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "identity"},  # so that the size limit applies to what arrives
        auto_decompress=False,
    ) as http:
        yield AlertSource(http, url)
