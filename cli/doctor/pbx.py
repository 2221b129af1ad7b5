"""Checks of one PBX node over ARI: version, modules, clock, websocket, HTTP sessions and REFER."""

import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ssl import SSLContext
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from cli.doctor.browser_phone import check_browser_phones
from cli.doctor.phone_strangers import check_strangers
from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import error_text

MIN_VERSION = 20
MAX_CLOCK_SKEW_S = 2.0  # the Date header has whole seconds
TIMEOUT_S = 5.0
_OK = 200
_DEBIAN = "dfsg"  # in its version; docs/asterisk.md, "Taps that hear nothing: packet numbers"
_WITHOUT_PATCH = "noplc"  # the name of a build without the patch
RESPONSE_TIMEOUT_S = 2.0
_PING = {
    "type": "RESTRequest",
    "transaction_id": "ping",
    "request_id": "ping",
    "method": "GET",
    "uri": "asterisk/ping",
}
MODULES = (
    *("app_stasis", "bridge_simple", "chan_pjsip", "codec_ulaw", "format_wav", "func_talkdetect"),
    *("res_ari_applications", "res_ari_asterisk", "res_ari_bridges", "res_ari_channels"),
    *("res_ari_events", "res_ari_playbacks", "res_curl", "res_http_media_cache"),
    *("res_http_websocket", "res_musiconhold", "res_pjsip_session", "res_pjsip_sdp_rtp"),
    *("res_rtp_asterisk", "res_stasis_answer", "res_stasis_playback"),
)
STREAM_MODULES = ("chan_websocket",)
# The first versions that survive `Refer-Sub: false`, by branch (Asterisk issue 2021).
_FIXED = {20: 21, 22: 11, 23: 5}
_NEXT_BRANCH = 24
_ADVICE = "PBX_AGENT_REFER=no and PBX_TRUNK_REFER=no, or upgrade to 20.21, 22.11, 23.5 or later"


class AriNode(Struct, frozen=True):
    """A node's ARI URL without /ari, and the credentials."""

    name: str
    url: str
    user: str
    password: str
    tls: SSLContext | None = None
    has_gateways: bool = False
    sip_host: str = ""  # where phones reach it, if that is not the host of the URL


async def check_node(node: AriNode, app: str, sessions: int) -> list[Finding]:
    """Check one node; `app` is an unused Stasis app, `sessions` the number to test."""
    headers = {"Authorization": aiohttp.encode_basic_auth(node.user, node.password)}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=0, ssl=node.tls or True)
    try:
        session = aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector)
        async with session as http:
            return await _check(node, http, app, sessions)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        advice = "is Asterisk up, is http.conf `enabled=yes`, and is SWITCHROOM_NODES correct?"
        return [failure("node_unreachable", node.name, f"{node.url}: {error_text(error)}", advice)]


async def _check(
    node: AriNode, http: aiohttp.ClientSession, app: str, sessions: int
) -> list[Finding]:
    ari = URL(node.url) / "ari"
    async with http.get(ari / "asterisk/info") as reply:
        if reply.status != _OK:
            return [_not_available(node, reply.status)]
        info = await reply.json()
        date = reply.headers.get("Date", "")
    async with http.get(ari / "asterisk/modules") as reply:
        modules = await reply.json() if reply.status == _OK else []
    return [
        _version(node, info),
        *await check_refer(node.name, http, ari, _version_of(info)),
        await _check_websocket(node.name, http, ari, app),
        *_modules(node, modules),
        *await check_browser_phones(node.name, http, ari, modules, node.tls),
        *await check_strangers(node.name, ari, node.sip_host),
        await _check_sessions(node.name, http, ari, sessions),
        _clock(node, date),
    ]


def _not_available(node: AriNode, status: int) -> Finding:
    match status:
        case 401 | 403:
            advice = "user and password in SWITCHROOM_NODES must be those of its ari.conf"
            return failure(
                "node_password", node.name, f"{node.url}: wrong user or password", advice
            )
        case 404:
            advice = "load res_ari.so and res_ari_asterisk.so; use the URL without /ari"
            return failure("node_no_ari", node.name, f"{node.url}: no ARI at this URL", advice)
        case 503:
            return failure(
                "node_unreachable",
                node.name,
                f"{node.url}: Asterisk has not booted yet",
                "try again soon",
            )
        case _:
            return failure(
                "node_unreachable", node.name, f"{node.url}: HTTP {status}", "see Asterisk's log"
            )


def _version_of(info: dict[str, Any]) -> str:
    return str((info.get("system") or {}).get("version", "?"))


def _version(node: AriNode, info: dict[str, Any]) -> Finding:
    version = _version_of(info)
    major = version.partition(".")[0]
    if not major.isdigit():
        advice = f"{MIN_VERSION} is the oldest supported version"
        return warning("node_version", node.name, f"Asterisk {version} at {node.url}", advice)
    if int(major) < MIN_VERSION:
        advice = f"upgrade it to {MIN_VERSION} or later; 22 is recommended"
        return failure("node_version", node.name, f"Asterisk {version}", advice)
    if _DEBIAN in version and _WITHOUT_PATCH not in version:
        text = f"Asterisk {version} is Debian's, which drops audio: a party can become silent"
        advice = "build it without one patch: docs/operations/deploy.md, Debian's Asterisk"
        return warning("node_drops_audio", node.name, text, advice)
    return ok(node.name, f"Asterisk {version} at {node.url}, user {node.user} accepted")


def _modules(node: AriNode, modules: list[dict[str, Any]]) -> Iterator[Finding]:
    running = {each["name"] for each in modules if each.get("status") == "Running"}
    required = (*MODULES, *STREAM_MODULES) if node.has_gateways else MODULES
    missing = [name for name in required if f"{name}.so" not in running]
    if not missing:
        yield ok(node.name, f"all {len(required)} required modules are loaded")
    else:
        advice = "load them in its modules.conf, as asterisk-config/etc/modules.conf does"
        yield failure("node_modules", node.name, f"missing modules: {', '.join(missing)}", advice)


def _clock(node: AriNode, date: str) -> Finding:
    if not date:
        return warning(
            "node_clock", node.name, "it sends no Date header", "check that both clocks are set"
        )
    skew_s = (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds() + 0.5
    if abs(skew_s) > MAX_CLOCK_SKEW_S:
        text = f"its clock is {abs(skew_s):.0f} s {'ahead' if skew_s > 0 else 'behind'}"
        return warning(
            "node_clock",
            node.name,
            text,
            "synchronize both clocks with NTP, or log times will not match",
        )
    return ok(node.name, "its clock is in sync")


async def _check_websocket(name: str, http: aiohttp.ClientSession, ari: URL, app: str) -> Finding:
    """Send a request over the websocket of an own app."""
    try:
        async with http.ws_connect((ari / "events").with_query(app=app)) as websocket:
            await websocket.send_str(msgspec.json.encode(_PING).decode())
            answer = await websocket.receive(RESPONSE_TIMEOUT_S)
    except aiohttp.WSServerHandshakeError as error:
        advice = "load res_ari_events.so and res_http_websocket.so"
        return failure("node_websocket", name, f"no event websocket (HTTP {error.status})", advice)
    except TimeoutError:
        text = "no ARI requests over the websocket: HTTP costs twice as much"
        return warning(
            "node_websocket", name, text, "upgrade to Asterisk 20.14, 21.9, 22.4 or later"
        )
    if answer.type is aiohttp.WSMsgType.TEXT:
        return ok(name, "accepts ARI requests over the websocket")
    return failure("node_websocket", name, "closes its event websocket", "see Asterisk's log")


async def _check_sessions(
    name: str, http: aiohttp.ClientSession, ari: URL, sessions: int
) -> Finding:
    """Open as many sessions at once as another engine needs.

    Asterisk closes sessions beyond `sessionlimit` in http.conf (default 100) without an error.
    """
    opened = 0
    async with AsyncExitStack() as stack:
        try:
            for opened in range(sessions):  # noqa: B007 - the last value is the result
                await stack.enter_async_context(http.get(ari / "asterisk/ping"))
        except (aiohttp.ClientError, OSError):
            text = f"room for {opened} more HTTP sessions; an engine needs up to {sessions}"
            return warning(
                "node_sessions", name, text, "set `sessionlimit = 2000` in its http.conf and reload"
            )
    return ok(name, f"room for the {sessions} HTTP sessions of another engine")


async def check_refer(
    name: str, http: aiohttp.ClientSession, ari: URL, version: str
) -> list[Finding]:
    """Check the version against the endpoints that accept REFER."""
    if survives_refer(version):
        return [ok(name, "survives every REFER")]
    accepting = await _accepting(http, ari)
    if not accepting:
        return [ok(name, "declines REFER, which could crash this version")]
    text = f"accepts REFER of {', '.join(accepting)}; one with `Refer-Sub: false` crashes {version}"
    return [failure("refer_crash", name, text, _ADVICE)]


def survives_refer(version: str) -> bool:
    """Return whether a version has the fix; one that is not a number may have it."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if found is None:
        return True
    branch, release = int(found[1]), int(found[2])
    return branch >= _NEXT_BRANCH or release >= _FIXED.get(branch, release + 1)


async def _accepting(http: aiohttp.ClientSession, ari: URL) -> list[str]:
    """Return endpoints that accept REFER: the first phone's stands for all."""
    async with http.get(ari / "endpoints/PJSIP") as reply:
        found = await reply.json() if reply.status == _OK else []
    names = sorted(each["resource"] for each in found)
    shown = [name for name in names if name in {"trunk", "peers"}]
    shown += [name for name in names if name not in {"trunk", "peers"}][:1]
    return [name for name in shown if await _accepts(http, ari, name)]


async def _accepts(http: aiohttp.ClientSession, ari: URL, name: str) -> bool:
    path = ari / "asterisk/config/dynamic/res_pjsip/endpoint" / name
    async with http.get(path) as reply:
        fields = await reply.json() if reply.status == _OK else []
    return {"attribute": "allow_transfer", "value": "true"} in fields
