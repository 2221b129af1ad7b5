"""A phone in a browser for a moment: it logs in over a websocket, is called, and declines.

What the PBX offers it is what a browser would get: candidates, keys and codecs.
"""

import asyncio
import hashlib
import re
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import aiohttp
from msgspec import Struct
from yarl import URL

NAME = "switchroom-doctor"  # with a part of its own for each run: several may run at once
TIMEOUT_S = 4.0
REALM = "asterisk"
_HOST = "doctor.invalid"
# What the template decides, in a form that Asterisk accepts from ARI.
_COPIED = ("webrtc", "dtls_auto_generate_cert", "direct_media", "force_rport", "rewrite_contact")


class Offer(Struct, frozen=True):
    """What a PBX offers: addresses with ports, codecs, and whether keys and ICE are there."""

    candidates: tuple[tuple[str, int], ...]
    codecs: tuple[str, ...]
    has_keys: bool

    @classmethod
    def parse(cls, invite: str) -> "Offer":
        """Read an INVITE."""
        found = re.findall(r"^a=candidate:\S+ \d+ \S+ \d+ (\S+) (\d+) ", invite, re.MULTILINE)
        codecs = re.findall(r"^a=rtpmap:\d+ ([^/\s]+)", invite, re.MULTILINE)
        has_keys = "a=fingerprint:" in invite and "UDP/TLS/RTP/SAVPF" in invite
        addresses = tuple(dict.fromkeys((host, int(port)) for host, port in found))
        return cls(addresses, tuple(each.lower() for each in codecs), has_keys)


class NoOffer(Exception):
    """The phone was not called; the text says how far it came."""


async def read_offer(
    http: aiohttp.ClientSession,
    ari: URL,
    browser: aiohttp.ClientSession,
    websocket: URL,
    template: Sequence[dict[str, str]],
) -> Offer:
    """Let a node call a phone that is made from its template; raises NoOffer and ClientError.

    `http` is that of an engine, `browser` that of the phone.
    """
    name = f"{NAME}-{secrets.token_hex(4)}"
    async with (
        _phone(http, ari, template, name) as password,
        browser.ws_connect(websocket, protocols=["sip"]) as socket,
    ):
        status = await _register(socket, name, password)
        if status != "200":
            raise NoOffer(f"the login over {websocket} is refused ({status})")
        query = {"endpoint": f"PJSIP/{name}", "app": name, "timeout": "3"}
        calling = asyncio.ensure_future(_post(http, (ari / "channels").with_query(query)))
        try:
            invite = await _receive(socket, "INVITE")
            await socket.send_str(_decline(invite))
            return Offer.parse(invite)
        except TimeoutError:
            raise NoOffer("the node accepts the login, and sends no call") from None
        finally:
            calling.cancel()
            with suppress(asyncio.CancelledError, aiohttp.ClientError):
                await calling


@asynccontextmanager
async def _phone(
    http: aiohttp.ClientSession, ari: URL, template: Sequence[dict[str, str]], name: str
) -> AsyncIterator[str]:
    """Make a phone for as long as the context lasts; provides its password."""
    password = secrets.token_urlsafe(24)
    digest = _md5(f"{name}:{REALM}:{password}")
    shown = {each["attribute"]: each["value"] for each in template}
    codecs = shown.get("allow", "").strip("()").replace("|", ",")
    own = {"auth": name, "aors": name, "identify_by": "username", "context": "from-agents"}
    objects = {
        "auth": {"auth_type": "digest", "username": name, "password_digest": f"MD5:{digest}"},
        "aor": {"max_contacts": "1", "remove_existing": "yes"},
        "endpoint": {
            **{each: shown[each] for each in _COPIED if each in shown},
            "allow": f"!all,{codecs}",
            **own,
        },
    }
    base = ari / "asterisk/config/dynamic/res_pjsip"
    try:
        for kind, fields in objects.items():
            given = [{"attribute": each, "value": value} for each, value in fields.items()]
            async with http.put(base / kind / name, json={"fields": given}) as reply:
                if not reply.ok:
                    raise NoOffer(f"the node makes no {kind} over ARI (HTTP {reply.status})")
        yield password
    finally:
        for kind in ("endpoint", "aor", "auth"):
            async with http.delete(base / kind / name):
                pass


async def _register(socket: aiohttp.ClientWebSocketResponse, name: str, password: str) -> str:
    """Log in; returns the status of the last response."""
    call_id = secrets.token_hex(8)
    await socket.send_str(_request(name, call_id, 1, ""))
    challenge = await _receive(socket, "SIP/2.0")
    fields = dict(re.findall(r'(\w+)="?([^",\r]+)"?', _header(challenge, "WWW-Authenticate")))
    if "nonce" not in fields:
        return challenge.split(" ", 2)[1]
    secret = _md5(f"{name}:{REALM}:{password}")
    proof = _md5(f"{secret}:{fields['nonce']}:00000001:abc:auth:{_md5(f'REGISTER:sip:{_HOST}')}")
    answer = (
        f'Authorization: Digest username="{name}", realm="{REALM}", nonce="{fields["nonce"]}",'
        f' uri="sip:{_HOST}", response="{proof}", algorithm=MD5, qop=auth, nc=00000001,'
        f' cnonce="abc", opaque="{fields.get("opaque", "")}"\r\n'
    )
    await socket.send_str(_request(name, call_id, 2, answer))
    return (await _receive(socket, "SIP/2.0")).split(" ", 2)[1]


def _request(name: str, call_id: str, number: int, answer: str) -> str:
    return (
        f"REGISTER sip:{_HOST} SIP/2.0\r\n"
        f"Via: SIP/2.0/WS {_HOST};branch=z9hG4bK{secrets.token_hex(8)}\r\n"
        f"From: <sip:{name}@{_HOST}>;tag={call_id}\r\nTo: <sip:{name}@{_HOST}>\r\n"
        f"Call-ID: {call_id}\r\nCSeq: {number} REGISTER\r\n"
        f"Contact: <sip:{name}@{_HOST};transport=ws>\r\n{answer}"
        "Expires: 60\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n"
    )


def _decline(invite: str) -> str:
    copied = re.findall(r"^(?:Via|From|To|Call-ID|CSeq): .*$", invite, re.MULTILINE)
    lines = [each.strip() + (";tag=d" if each.startswith("To:") else "") for each in copied]
    return "\r\n".join(("SIP/2.0 486 Busy Here", *lines, "Content-Length: 0", "", ""))


def _header(message: str, name: str) -> str:
    found = re.search(rf"^{name}: (.*)$", message, re.MULTILINE)
    return found[1] if found else ""


async def _receive(socket: aiohttp.ClientWebSocketResponse, start: str) -> str:
    """Return the next message with this start; raises TimeoutError."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            message = await socket.receive()
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise NoOffer("the node closes the websocket")
            text = str(message.data)
            if text.startswith(start):
                return text


async def _post(http: aiohttp.ClientSession, url: URL) -> None:
    async with http.post(url):
        pass


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
