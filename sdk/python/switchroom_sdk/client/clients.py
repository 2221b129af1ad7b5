"""The clients: `Switchroom`, and `AsyncSwitchroom` for asyncio.

with Switchroom() as switchroom:
call = switchroom.calls.create(from_="+4721930000", to="+4722222222", action=say("Hello."))
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Self, TypeVar

import httpx2
from msgspec import Struct

from switchroom_sdk.client.recordings import AsyncRecordings, Recordings
from switchroom_sdk.client.request import Request
from switchroom_sdk.client.responses import read_response
from switchroom_sdk.client.retry import Retry
from switchroom_sdk.client.settings import ClientSettings
from switchroom_sdk.errors import ConnectionFailed, SwitchroomError
from switchroom_sdk.generated.async_resources import Resources as AsyncResources
from switchroom_sdk.generated.resources import Resources

T = TypeVar("T")
TIMEOUT_S = 30.0


class _Token(Struct, frozen=True, rename="camel"):
    access_token: str


class Switchroom(Resources):
    """The REST API; what is not given is read from the environment."""

    def __init__(  # noqa: PLR0913 - each setting may be given
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        account: str | None = None,
        api_secret: str | None = None,
        public_url: str | None = None,
        http: httpx2.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(self)
        self.recordings: Recordings = Recordings(self)
        self._settings = ClientSettings.read(
            base_url=base_url,
            api_key=api_key,
            account=account,
            api_secret=api_secret,
            public_url=public_url,
        )
        self._http = http or httpx2.Client(timeout=TIMEOUT_S)
        self._sleep = sleep
        self.token = ""

    def send(self, request: Request, kind: type[T] | None) -> T:
        """Send a request; repeats it if the server is busy and that is safe."""
        content = request.content(self._settings.public_url)
        headers = request.headers()
        retry = Retry(request, has_token=bool(self.token))
        while True:
            try:
                return self._attempt(request, content, headers, kind)
            except SwitchroomError as error:
                delay_s = retry.delay_after(error)
            if retry.needs_token:
                self.token = ""
            self._sleep(delay_s)

    def _attempt(
        self,
        request: Request,
        content: bytes | None,
        headers: Mapping[str, str],
        kind: type[T] | None,
    ) -> T:
        url = self._settings.base_url + request.target
        try:
            response = self._http.request(
                request.method,
                url,
                params=request.parameters(),
                content=content,
                headers={**headers, "Authorization": self._authorization()},
            )
        except httpx2.RequestError as error:
            raise _connection_failed(self._settings.base_url, error) from error
        return read_response(response.status_code, response.headers, response.content, kind)

    def _authorization(self) -> str:
        settings = self._settings
        if settings.uses_tokens and not self.token:
            response = self._http.post(**token_request(settings))
            found = read_response(response.status_code, response.headers, response.content, _Token)
            self.token = found.access_token
        return self.token or settings.api_key

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send a request to any path of the API, such as `/srmain/contacts_list/contactlists`."""
        return self.send(any_request(method, path, query, body, idempotency_key), object)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncSwitchroom(AsyncResources):
    """The REST API for asyncio; what is not given is read from the environment."""

    def __init__(  # noqa: PLR0913 - each setting may be given
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        account: str | None = None,
        api_secret: str | None = None,
        public_url: str | None = None,
        http: httpx2.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(self)
        self.recordings: AsyncRecordings = AsyncRecordings(self)
        self._settings = ClientSettings.read(
            base_url=base_url,
            api_key=api_key,
            account=account,
            api_secret=api_secret,
            public_url=public_url,
        )
        self._http = http or httpx2.AsyncClient(timeout=TIMEOUT_S)
        self._sleep = sleep
        self.token = ""

    async def send(self, request: Request, kind: type[T] | None) -> T:
        """Send a request; repeats it if the server is busy and that is safe."""
        content = request.content(self._settings.public_url)
        headers = request.headers()
        retry = Retry(request, has_token=bool(self.token))
        while True:
            try:
                return await self._attempt(request, content, headers, kind)
            except SwitchroomError as error:
                delay_s = retry.delay_after(error)
            if retry.needs_token:
                self.token = ""
            await self._sleep(delay_s)

    async def _attempt(
        self,
        request: Request,
        content: bytes | None,
        headers: Mapping[str, str],
        kind: type[T] | None,
    ) -> T:
        url = self._settings.base_url + request.target
        try:
            response = await self._http.request(
                request.method,
                url,
                params=request.parameters(),
                content=content,
                headers={**headers, "Authorization": await self._authorization()},
            )
        except httpx2.RequestError as error:
            raise _connection_failed(self._settings.base_url, error) from error
        return read_response(response.status_code, response.headers, response.content, kind)

    async def _authorization(self) -> str:
        settings = self._settings
        if settings.uses_tokens and not self.token:
            response = await self._http.post(**token_request(settings))
            found = read_response(response.status_code, response.headers, response.content, _Token)
            self.token = found.access_token
        return self.token or settings.api_key

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send a request to any path of the API, such as `/srmain/contacts_list/contactlists`."""
        return await self.send(any_request(method, path, query, body, idempotency_key), object)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def token_request(settings: ClientSettings) -> dict[str, Any]:
    """Return the request for an access token."""
    path = Request("POST", ("auth", "get-access-token", settings.account)).target
    body = {"apiKey": settings.api_key, "apiSecret": settings.api_secret}
    return {"url": settings.base_url + path, "json": body}


def any_request(
    method: str,
    path: str,
    query: Mapping[str, Any] | None,
    body: Mapping[str, Any] | None,
    idempotency_key: str | None,
) -> Request:
    """Return a request to a path."""
    return Request(
        method.upper(),
        tuple(path.strip("/").split("/")),
        query=query or {},
        body=body,
        is_idempotent=idempotency_key is not None,
        idempotency_key=idempotency_key,
    )


def _connection_failed(base_url: str, error: httpx2.RequestError) -> ConnectionFailed:
    text = f"{base_url} did not respond: {error or type(error).__name__}"
    return ConnectionFailed(text, is_sent=not isinstance(error, httpx2.ConnectError))
