"""Checks that only engines and REST layers reach the HTTP server of a PBX node.

Asterisk checks no origin of a websocket. It has one limit of connections for ARI and the websockets
of phones, so strangers who hold them all keep engines from the node.
"""

import asyncio
from ipaddress import ip_address

import aiohttp
from yarl import URL

from cli.doctor.result import Finding, failure, ok, warning

TIMEOUT_S = 5.0
_SWITCHING = 101
_FOREIGN = "https://doctor.invalid"  # the origin of a page of others
# Asterisk finds a handler without regard to case, and the restrictions of its http.conf have one.
_SPELLINGS = ("/ws", "/WS", "/Ws", "/wS", "/ws/", "//ws", "/%77s")


async def check_strangers(name: str, ari: URL, sip_host: str) -> list[Finding]:
    """Try to reach a node as a stranger does, and as a page of others in a browser here.

    `sip_host` is where phones reach the node, if that is not the host of its ARI.
    """
    here = await _status(ari)
    there = await _status(ari.with_host(sip_host)) if sip_host not in {"", ari.host} else None
    found = []
    if _SWITCHING in {here if is_loopback(ari.host or "") else None, there}:
        text = "any page in a browser opens its websocket for phones, past the REST layer"
        advice = "bind ARI to a private address, and correct PBX_PHONE_PROXIES"
        found.append(failure("phone_websocket_open", name, text, advice))
    elif there is not None:
        text = f"its HTTP server answers at {sip_host}, too, where phones reach it"
        advice = "right if a firewall keeps strangers from it; otherwise a private PBX_BIND"
        found.append(warning("phone_websocket_open", name, text, advice))
    elif here == _SWITCHING:
        text = "its websocket for phones serves this machine, and checks no origin"
        advice = "right if a REST layer is here; otherwise correct PBX_PHONE_PROXIES"
        found.append(warning("phone_websocket_open", name, text, advice))
    return found or [ok(name, "its HTTP server opens no websocket for strangers")]


async def _status(ari: URL) -> int | None:
    """Return how a phone's websocket of a page of others is answered; None if nothing answers.

    It is open if one spelling of its path opens it; else the usual one counts.
    """
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    # It is sent no secret, and its certificate may name another host.
    connector = aiohttp.TCPConnector(ssl=False)
    async with aiohttp.ClientSession(timeout=timeout, connector=connector) as http:
        urls = (ari.with_path(path, encoded=True) for path in _SPELLINGS)
        usual, *others = await asyncio.gather(*(_handshake(http, url) for url in urls))
    return _SWITCHING if _SWITCHING in others else usual


async def _handshake(http: aiohttp.ClientSession, url: URL) -> int | None:
    try:
        async with http.ws_connect(url, protocols=["sip"], origin=_FOREIGN):
            return _SWITCHING
    except aiohttp.WSServerHandshakeError as error:
        return error.status
    except (aiohttp.ClientError, OSError, TimeoutError):
        return None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
