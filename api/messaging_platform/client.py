"""The HTTP client of the messaging platform: bounded in time and size, without redirects.

Requests take turns by account: a slow one, or many of one account, keep no other from the platform.
The time of a request begins with its turn.

There are no retries: a message could be sent twice, and rate limits would be reached sooner.
(aiohttp retries where it is safe: a GET or DELETE whose idle connection was closed.)
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import IO, Annotated, Any, TypeVar

import aiohttp
import msgspec
from msgspec import Struct
from pydantic import SecretStr

from api.common.account_concurrency import LimitedSlots
from api.common.errors import InvalidRequest
from api.messaging_platform.problems import PlatformUnavailable, to_error
from api.messaging_platform.settings import MsgappSettings
from base.limit import Limit

T = TypeVar("T")
CONNECT_TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 4_194_304
SUCCESS = range(200, 300)
MAX_CONNECTIONS: Annotated[
    int,
    Limit("process", "wait", "Requests to the messaging platform at once, five of each account."),
] = 20
CONNECTIONS_OF_ACCOUNT = MAX_CONNECTIONS // 4
MAX_OF_ACCOUNT: Annotated[
    int,
    Limit("account", "429 `too_many`", "Requests to the messaging platform, with waiting ones."),
] = 25
NO_BUSINESS_ACCOUNT = "this account has no business account on the messaging platform"


class PlatformAccount(Struct, frozen=True):
    """An account, and its business account, which others may share."""

    account_id: str
    business_id: str
    token: SecretStr


class PlatformClient:
    """Sends requests to the platform, on behalf of an account's business account."""

    def __init__(self, http: aiohttp.ClientSession, settings: MsgappSettings) -> None:
        self._http = http
        self.settings = settings
        self._slots = LimitedSlots(
            "too_many",
            "requests to the messaging platform",
            slots=MAX_CONNECTIONS,
            most_of_account=MAX_OF_ACCOUNT,
            of_account=CONNECTIONS_OF_ACCOUNT,
        )
        self._base = f"{str(settings.url or '').rstrip('/')}/{settings.version}"

    def business(self, account_id: str) -> PlatformAccount:
        """Return an account's business account; raises InvalidRequest."""
        business = self.settings.accounts.get(account_id)
        if business is None or self.settings.url is None:
            raise InvalidRequest(NO_BUSINESS_ACCOUNT, "no_business_account")
        return PlatformAccount(account_id, business.business_id, business.token)

    def accounts_of(self, business_id: str) -> list[str]:
        """Return the accounts that share a business account."""
        accounts = self.settings.accounts.items()
        return [account_id for account_id, each in accounts if each.business_id == business_id]

    async def request(  # noqa: PLR0913 - the parts of a request
        self,
        shape: type[T],
        business: PlatformAccount,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: object = None,
    ) -> T:
        """Send a request, and decode the response.

        Raises the errors of `problems`, and TooManyRequests if the account has too many.
        """
        headers = {"Authorization": f"Bearer {business.token.get_secret_value()}"}
        data = None if body is None else msgspec.json.encode(body)
        if data is not None:
            headers["Content-Type"] = "application/json"
        return await self._request(
            shape, business, method, path, headers=headers, params=query, data=data
        )

    async def send_file(
        self, shape: type[T], business: PlatformAccount, path: str, file: IO[bytes]
    ) -> T:
        """Send a file's content from its current position."""
        token = business.token.get_secret_value()
        headers = {
            "Authorization": f"OAuth {token}",
            "file_offset": "0",
            "Content-Type": "application/octet-stream",
        }
        return await self._request(shape, business, "POST", path, headers=headers, data=file)

    async def _request(
        self, shape: type[T], business: PlatformAccount, method: str, path: str, **options: Any
    ) -> T:
        async with self._slots.slot(business.account_id):
            status, content, headers = await self._request_raw(
                method, f"{self._base}/{path}", **options
            )
        if status not in SUCCESS:
            # The platform may repeat a token that it rejects; the customer must not see it.
            token = business.token.get_secret_value().encode()
            raise to_error(status, content.replace(token, b"(the token)"), headers)
        try:
            return msgspec.json.decode(content, type=shape)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            text = f"the messaging platform's answer is not understood ({error})"
            raise PlatformUnavailable(text, may_be_done=True) from None

    async def _request_raw(
        self, method: str, url: str, **options: Any
    ) -> tuple[int, bytes, Mapping[str, str]]:
        try:
            async with self._http.request(
                method, url, allow_redirects=False, **options
            ) as response:
                return response.status, await _read(response), response.headers
        except aiohttp.ClientConnectorError:
            text = "the messaging platform can't be reached"
            raise PlatformUnavailable(text, may_be_done=False) from None
        except (aiohttp.ClientError, TimeoutError) as error:
            reason = "timeout" if isinstance(error, TimeoutError) else "the connection was lost"
            text = f"the messaging platform does not answer ({reason})"
            raise PlatformUnavailable(text, may_be_done=True) from None


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MAX_RESPONSE_BYTES:
            text = f"the messaging platform's answer is larger than {MAX_RESPONSE_BYTES} bytes"
            raise PlatformUnavailable(text, may_be_done=True)
        parts.append(part)
    return b"".join(parts)


@asynccontextmanager
async def open_client(settings: MsgappSettings) -> AsyncIterator[PlatformClient]:
    """Open a client for as long as the context lasts."""
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=settings.timeout_s, sock_connect=CONNECT_TIMEOUT_S),
        connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={
            "Accept-Encoding": "identity"
        },  # so that the size limit applies to what is received
        auto_decompress=False,
    ) as http:
        yield PlatformClient(http, settings)
