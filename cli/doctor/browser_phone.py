"""Checks of a PBX node for phones in browsers: why there would be no audio."""

import asyncio
import ssl
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

import aiohttp
from yarl import URL

from cli.doctor.browser_call import NoOffer, Offer, read_offer
from cli.doctor.phone_strangers import is_loopback
from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import error_text

_OK, _FORBIDDEN = 200, 403
_OBJECTS = "asterisk/config/dynamic/res_pjsip"
_MODULES = ("res_crypto", "res_srtp", "res_pjsip_transport_websocket")
_OPUS = ("codec_opus_open_source", "res_format_attr_opus")
_CODECS = {"opus", "pcmu", "pcma", "g722"}  # of browsers
_EXPIRES_SOON_DAYS = 14
_TEMPLATE = "phones in browsers"
_HOST_OF_REST = "127.0.0.2"  # from which a REST layer on a node's machine connects


async def check_browser_phones(
    name: str,
    http: aiohttp.ClientSession,
    ari: URL,
    modules: Sequence[dict[str, Any]],
    tls: ssl.SSLContext | None,
) -> list[Finding]:
    """Check all that a phone in a browser needs; one line if the node serves none."""
    template = await _fields(http, ari / _OBJECTS / "endpoint/browser-template")
    if template is None:
        return [ok(name, "serves no phones in browsers (PBX_PHONE_WEBSOCKET)")]
    found = [*_modules(name, modules, template)]
    schemes = [
        each for each in ("ws", "wss") if await _fields(http, ari / _OBJECTS / "transport" / each)
    ]
    if not schemes:
        advice = "PBX_PHONE_WEBSOCKET=yes, and restart the node"
        found.append(failure("phone_transport", name, "has no transport for websockets", advice))
    if found:
        return found
    return [
        *await _certificate(name, ari, schemes, tls),
        *await _call(name, http, ari, template, tls),
    ]


async def _fields(http: aiohttp.ClientSession, url: URL) -> list[dict[str, str]] | None:
    async with http.get(url) as reply:
        found: list[dict[str, str]] | None = await reply.json() if reply.status == _OK else None
        return found


def _modules(
    name: str, modules: Sequence[dict[str, Any]], template: Sequence[dict[str, str]]
) -> Iterator[Finding]:
    running = {each["name"] for each in modules if each.get("status") == "Running"}
    codecs = next((each["value"] for each in template if each["attribute"] == "allow"), "")
    needed = (*_MODULES, *(_OPUS if "opus" in codecs else ()))
    missing = [each for each in needed if f"{each}.so" not in running]
    if missing:
        text = f"{_TEMPLATE} need modules that are not loaded: {', '.join(missing)}"
        yield failure("phone_modules", name, text, "load them in its modules.conf")


async def _certificate(
    name: str, ari: URL, schemes: Sequence[str], tls: ssl.SSLContext | None
) -> list[Finding]:
    """Check the certificate that REST layers and engines verify, if there is one."""
    if "wss" not in schemes or ari.scheme != "https":
        return []
    shown = await _shown_certificate(ari, tls or ssl.create_default_context())
    until = datetime.strptime(shown["notAfter"], "%b %d %H:%M:%S %Y %Z").replace(tzinfo=UTC)
    days = (until - datetime.now(UTC)).days
    text = f"its certificate is for {ari.host}, by {_issuer(shown)}, and valid for {days} days"
    if days < _EXPIRES_SOON_DAYS:
        advice = "renew it: docs/how-to/browser-phone.md, The certificate"
        return [warning("phone_certificate", name, text, advice)]
    return [ok(name, text)]


async def _shown_certificate(ari: URL, tls: ssl.SSLContext) -> dict[str, Any]:
    """Return the certificate of a connection of its own: a response's is closed or in use again."""
    _, writer = await asyncio.open_connection(ari.host, ari.port, ssl=tls)
    shown: dict[str, Any] = writer.get_extra_info("peercert")
    writer.close()
    return shown


def _issuer(shown: dict[str, Any]) -> str:
    """Return the name of the authority, which browsers have to trust."""
    names = dict(each for part in shown["issuer"] for each in part)
    return str(names.get("commonName") or names.get("organizationName", "an authority"))


async def _call(
    name: str,
    http: aiohttp.ClientSession,
    ari: URL,
    template: Sequence[dict[str, str]],
    tls: ssl.SSLContext | None,
) -> list[Finding]:
    """Call a phone as a browser has it, by way of a REST layer, and look at the offer."""
    websocket = ari.with_path("/ws").with_scheme("wss" if ari.scheme == "https" else "ws")
    here = (_HOST_OF_REST, 0) if is_loopback(ari.host or "") else None
    connector = aiohttp.TCPConnector(local_addr=here, ssl=tls or True)
    try:
        async with aiohttp.ClientSession(connector=connector) as browser:
            offer = await read_offer(http, ari, browser, websocket, template)
    except aiohttp.WSServerHandshakeError as error:
        if error.status == _FORBIDDEN:
            text = f"{websocket} refuses this machine, so the offer to browsers is not checked"
            advice = "run doctor where a REST layer is, whose address is in PBX_PHONE_PROXIES"
            return [warning("phone_websocket", name, text, advice)]
        text = f"no websocket for phones at {websocket} (HTTP {error.status})"
        return [failure("phone_websocket", name, text, "load res_http_websocket.so")]
    except (NoOffer, TimeoutError) as error:
        text = f"no call reaches a phone in a browser: {error_text(error)}"
        return [failure("phone_websocket", name, text, "see Asterisk's log")]
    return [*_offered(name, offer, ari.host or "")]


def _offered(name: str, offer: Offer, host: str) -> Iterator[Finding]:
    if not offer.has_keys:
        text = "offers browsers no DTLS keys, so there is no audio"
        yield failure("phone_offer", name, text, "webrtc=yes in browser-template; load res_srtp.so")
    if not _CODECS.intersection(offer.codecs):
        text = f"offers no codec of browsers, but {', '.join(offer.codecs) or 'none'}"
        yield failure("phone_offer", name, text, "PBX_BROWSER_CODECS=ulaw,alaw")
    if not offer.candidates:
        text = "offers no ICE candidates, so browsers find no way for the audio"
        yield failure("phone_offer", name, text, "icesupport=yes in its rtp.conf, and restart it")
        return
    shown = ", ".join(f"{address} port {port}" for address, port in offer.candidates[:4])
    public = [address for address, _ in offer.candidates if not _is_private(address)]
    if public or _is_private(host):
        yield ok(name, f"offers browsers {', '.join(offer.codecs)} at {shown}")
        return
    text = f"offers browsers private addresses only: {shown}"
    advice = "PBX_EXTERNAL_ADDRESS with the public one, or a TURN server for the phones"
    yield warning("phone_candidates", name, text, advice)


def _is_private(host: str) -> bool:
    """Return whether an address is of a private network, or of this machine; a name is not."""
    try:
        return ip_address(host).is_private
    except ValueError:
        return host == "localhost"
