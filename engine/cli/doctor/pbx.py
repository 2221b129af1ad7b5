"""One PBX node, asked over ARI as the engine asks it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from msgspec import Struct
from yarl import URL

from engine.cli.doctor.result import Finding, failure, ok, warning
from engine.cli.doctor.websocket import check_sessions, check_websocket
from engine.cli.errors import error_text

OLDEST = 20
SKEW_S = 2.0  # the PBX tells its time in whole seconds
LIMIT_S = 5.0
NOT_FOUND, UNAUTHORIZED, NOT_BOOTED, FINE = 404, 401, 503, 200
MODULES = (
    *("app_stasis", "bridge_simple", "chan_pjsip", "codec_ulaw", "format_wav", "func_talkdetect"),
    *("res_ari_applications", "res_ari_asterisk", "res_ari_bridges", "res_ari_channels"),
    *("res_ari_events", "res_ari_playbacks", "res_curl", "res_http_media_cache"),
    *("res_http_websocket", "res_musiconhold", "res_pjsip_session", "res_pjsip_sdp_rtp"),
    *("res_rtp_asterisk", "res_stasis_answer", "res_stasis_playback"),
)


class AriNode(Struct, frozen=True):
    """Where a node's ARI is, without /ari, and who we are there."""

    name: str
    url: str
    user: str
    password: str


async def check_node(node: AriNode, app: str, sessions: int) -> list[Finding]:
    """Ask one node; `app` is a Stasis app of nobody else, `sessions` how many engines may need."""
    headers = {"Authorization": aiohttp.encode_basic_auth(node.user, node.password)}
    limit = aiohttp.ClientTimeout(total=LIMIT_S)
    connector = aiohttp.TCPConnector(limit=0)
    try:
        async with aiohttp.ClientSession(
            headers=headers, timeout=limit, connector=connector
        ) as http:
            return await _asked(node, http, app, sessions)
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        advice = "is Asterisk up, http.conf `enabled=yes`, and SWITCHROOM_NODES right?"
        return [failure(node.name, f"{node.url}: {error_text(error)}", advice)]


async def _asked(
    node: AriNode, http: aiohttp.ClientSession, app: str, sessions: int
) -> list[Finding]:
    ari = URL(node.url) / "ari"
    async with http.get(ari / "asterisk/info") as reply:
        if reply.status != FINE:
            return [_closed(node, reply.status)]
        info = await reply.json()
        told = reply.headers.get("Date", "")
    async with http.get(ari / "asterisk/modules") as reply:
        modules = await reply.json() if reply.status == FINE else []
    return [
        _version(node, info),
        await check_websocket(node.name, http, ari, app),
        *_modules(node, modules),
        await check_sessions(node.name, http, ari, sessions),
        _clock(node, told),
    ]


def _closed(node: AriNode, status: int) -> Finding:
    match status:
        case 401 | 403:
            advice = "user and password in SWITCHROOM_NODES must be those of its ari.conf"
            return failure(node.name, f"{node.url}: user or password refused", advice)
        case 404:
            advice = "load res_ari.so and res_ari_asterisk.so; the url is without /ari"
            return failure(node.name, f"{node.url}: no ARI there", advice)
        case 503:
            return failure(node.name, f"{node.url}: Asterisk has not booted yet", "try again soon")
        case _:
            return failure(node.name, f"{node.url}: HTTP {status}", "see Asterisk's log")


def _version(node: AriNode, info: dict[str, Any]) -> Finding:
    version = str((info.get("system") or {}).get("version", "?"))
    major = version.partition(".")[0]
    if not major.isdigit():
        return warning(node.name, f"Asterisk {version} at {node.url}", f"{OLDEST} is the oldest")
    if int(major) < OLDEST:
        return failure(
            node.name, f"Asterisk {version}", f"upgrade it to {OLDEST} or later, best 22"
        )
    return ok(node.name, f"Asterisk {version} at {node.url}, user {node.user} let in")


def _modules(node: AriNode, modules: list[dict[str, Any]]) -> Iterator[Finding]:
    running = {each["name"] for each in modules if each.get("status") == "Running"}
    missing = [name for name in MODULES if f"{name}.so" not in running]
    if not missing:
        yield ok(node.name, f"all {len(MODULES)} modules needed are loaded")
    else:
        advice = "load them in its modules.conf, as asterisk-config/etc/modules.conf does"
        yield failure(node.name, f"modules missing: {', '.join(missing)}", advice)


def _clock(node: AriNode, told: str) -> Finding:
    if not told:
        return warning(node.name, "it does not tell its time", "see that both clocks are set")
    skew_s = (parsedate_to_datetime(told) - datetime.now(UTC)).total_seconds() + 0.5
    if abs(skew_s) > SKEW_S:
        text = f"its clock is {abs(skew_s):.0f} s {'ahead' if skew_s > 0 else 'behind'}"
        return warning(node.name, text, "set both clocks by NTP: logs won't match")
    return ok(node.name, "its clock agrees with ours")
