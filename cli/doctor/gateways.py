"""Checks of the stream gateways beside a PBX node, and of the recognizers that they reach."""

from ssl import SSLContext

import aiohttp
import msgspec

from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import error_text
from engine.config import Settings
from engine.settings.nodes import NodeSettings
from wire.streams.recognizer import ListedRecognizer, RecognizerList

TIMEOUT_S = 5.0
MAX_LANGUAGES = 12  # that are named
_OK, _REFUSED = 200, (401, 403)
_decode = msgspec.json.Decoder(RecognizerList).decode


async def check_gateways(
    settings: Settings, node: NodeSettings, tls: SSLContext | None
) -> list[Finding]:
    """Check each gateway of a node; a node without one has no media streams."""
    token = settings.streams_token
    if token is None or not node.stream_gateways:
        return []
    headers = {"Authorization": f"Bearer {token.get_secret_value()}"}
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    connector = aiohttp.TCPConnector(ssl=tls or True)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector) as http:
        urls = [str(each).rstrip("/") for each in node.stream_gateways]
        return [finding for url in urls for finding in await _check(node.name, url, http)]


async def _check(name: str, url: str, http: aiohttp.ClientSession) -> list[Finding]:
    try:
        async with http.get(f"{url}/readyz") as ready:
            is_draining = ready.status != _OK
        async with http.get(f"{url}/recognizers") as reply:
            status, body = reply.status, await reply.read()
    except (aiohttp.ClientError, OSError, TimeoutError) as error:
        text = f"no stream gateway at {url}: {error_text(error)}"
        return [failure("gateway_unreachable", name, text, "start `switchroom streams` there")]
    if status in _REFUSED:
        text = f"the stream gateway at {url} refuses the engine's token"
        advice = "SWITCHROOM_STREAMS_TOKEN must be the same at both"
        return [failure("gateway_refused", name, text, advice)]
    state = "shuts down, and takes no more streams" if is_draining else "takes streams"
    found = ok(name, f"the stream gateway at {url} {state}")
    return [found, _recognizers(name, url, body)] if status == _OK else [found]


def _recognizers(name: str, url: str, body: bytes) -> Finding:
    try:
        known = _decode(body)
    except msgspec.MsgspecError as error:
        known = RecognizerList(error=str(error))
    if known.error:
        text = f"no speech in gathers: the gateway at {url} has no recognizers: {known.error}"
        advice = "run `switchroom speech`, and set SWITCHROOM_STREAMS_RECOGNIZERS at the gateway"
        return warning("no_recognizers", name, text, advice)
    return ok(name, f"recognizers: {', '.join(map(describe, known.recognizers))}")


def describe(recognizer: ListedRecognizer) -> str:
    """Return a recognizer's name and languages."""
    languages = recognizer.languages
    if not languages:
        return f"{recognizer.name} (languages of its service)"
    if len(languages) > MAX_LANGUAGES:
        return f"{recognizer.name} ({len(languages)} languages)"
    return f"{recognizer.name} ({' '.join(languages)})"
