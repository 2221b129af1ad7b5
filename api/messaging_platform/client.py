"""Asks the messaging platform: one request at a time, bounded in time and size, never redirected.

Nothing is asked twice by itself: a message would be sent twice, and a limit be reached sooner.
(aiohttp does so where it can do no harm: a GET or DELETE whose kept connection was closed.)
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, Any, TypeVar

import aiohttp
import msgspec

from api.common.errors import InvalidRequest
from api.messaging_platform.problems import PlatformUnavailable, to_error
from api.messaging_platform.settings import BusinessAccount, MsgappSettings

T = TypeVar("T")
CONNECT_S = 3.0
MAX_RESPONSE_BYTES = 4_194_304
SUCCESS = range(200, 300)
NONE = "this account has no business account on the messaging platform"


class PlatformClient:
    """Knows where the platform is, and which business account is whose."""

    def __init__(self, http: aiohttp.ClientSession, settings: MsgappSettings) -> None:
        self._http = http
        self.settings = settings
        self._base = f"{str(settings.url or '').rstrip('/')}/{settings.version}"

    def business(self, account_id: str) -> BusinessAccount:
        """Give an account's business account; raises Invalid where it has none."""
        found = self.settings.accounts.get(account_id)
        if found is None or self.settings.url is None:
            raise InvalidRequest(NONE, "no_business_account")
        return found

    def accounts_of(self, business_id: str) -> list[str]:
        """List the accounts that share a business account."""
        known = self.settings.accounts.items()
        return [account_id for account_id, each in known if each.business_id == business_id]

    async def ask(  # noqa: PLR0913 - a request has that many parts
        self,
        shape: type[T],
        business: BusinessAccount,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
    ) -> T:
        """Ask, and decode the answer; raises what `problems` tells."""
        headers = {"Authorization": f"Bearer {business.token.get_secret_value()}"}
        data = None if body is None else msgspec.json.encode(body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        return await self._answered(
            shape, business, method, path, headers=headers, params=query, data=data
        )

    async def send_file(
        self, shape: type[T], business: BusinessAccount, path: str, file: IO[bytes]
    ) -> T:
        """Send a file's content from where it stands."""
        token = business.token.get_secret_value()
        headers = {
            "Authorization": f"OAuth {token}",
            "file_offset": "0",
            "Content-Type": "application/octet-stream",
        }
        return await self._answered(shape, business, "POST", path, headers=headers, data=file)

    async def _answered(
        self, shape: type[T], business: BusinessAccount, method: str, path: str, **more: Any
    ) -> T:
        status, answer, headers = await self._bytes(method, f"{self._base}/{path}", **more)
        if status not in SUCCESS:
            # A token that it does not take, it may repeat; the customer is to see our problem.
            token = business.token.get_secret_value().encode()
            raise to_error(status, answer.replace(token, b"(the token)"), headers)
        try:
            return msgspec.json.decode(answer, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            text = f"the messaging platform's answer is not understood ({error})"
            raise PlatformUnavailable(text, may_be_done=True) from None

    async def _bytes(
        self, method: str, url: str, **more: Any
    ) -> tuple[int, bytes, Mapping[str, str]]:
        try:
            async with self._http.request(method, url, allow_redirects=False, **more) as reply:
                return reply.status, await _read(reply), reply.headers
        except aiohttp.ClientConnectorError:
            text = "the messaging platform can't be reached"
            raise PlatformUnavailable(text, may_be_done=False) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            text = f"the messaging platform does not answer ({type(error).__name__})"
            raise PlatformUnavailable(text, may_be_done=True) from None


async def _read(reply: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in reply.content.iter_any():
        size += len(part)
        if size > MAX_RESPONSE_BYTES:
            text = f"the messaging platform's answer is larger than {MAX_RESPONSE_BYTES} bytes"
            raise PlatformUnavailable(text, may_be_done=True)
        parts.append(part)
    return b"".join(parts)


@asynccontextmanager
async def open_client(settings: MsgappSettings) -> AsyncIterator[PlatformClient]:
    """Give a client for as long as the context lasts."""
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=settings.timeout_s, sock_connect=CONNECT_S),
        connector=aiohttp.TCPConnector(limit=20),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"Accept-Encoding": "identity"},  # so that its size is what we count
        auto_decompress=False,
    ) as http:
        yield PlatformClient(http, settings)
