"""The client of the REST layer, with the key of an account or of an operator."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from cli.errors import NotFound, RequestRejected, UsageError
from cli.http_client import (
    RESPONSE_TIMEOUT_S,
    HttpClient,
    HttpResponse,
    path_of,
    tls_context,
)
from cli.options.connection import ClientSettings, is_url

T = TypeVar("T")
ACCOUNT_HEADER = "Switchroom-Account"
BASE = "/srmain"
NO_API = (
    "this command needs the REST layer and a key, and {source} has none: `switchroom"
    " profile set NAME --api-url URL --api-key KEY`, or SWITCHROOM_API_URL and SWITCHROOM_API_KEY"
)
Query = Mapping[str, str]


class RestClient:
    """Requests to a REST layer; each raises RequestRejected or Unreachable."""

    def __init__(self, http: HttpClient, settings: ClientSettings) -> None:
        self.url = http.url
        self._http = http
        self._settings = settings
        self._is_token = False

    async def request(  # noqa: PLR0913 - the parts of a request
        self,
        shape: type[T],
        method: str,
        *path: str,
        body: Any = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> T:
        """Send one request; `path` has the segments below /srmain, which are escaped."""
        reply = await self.send(
            method, *path, body=body, query=query, headers=headers, timeout_s=timeout_s
        )
        return self._http.decode(reply, shape)

    async def send(
        self,
        method: str,
        *path: str,
        body: Any = None,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = RESPONSE_TIMEOUT_S,
    ) -> HttpResponse:
        """Send one request, and return the response as it is; a file has no shape."""
        await self._authenticate()
        data = None if body is None else json.dumps(body).encode()
        acts_for = self._settings.acts_for
        return await self._http.send(
            method,
            BASE + path_of(*path),
            body=data,
            query=query,
            headers={**(headers or {}), **({ACCOUNT_HEADER: acts_for} if acts_for else {})},
            timeout_s=timeout_s,
        )

    async def download(self, *path: str, timeout_s: float) -> bytes:
        """Return a file."""
        reply = await self.send("GET", *path, timeout_s=timeout_s)
        self._http.check(reply)
        return reply.body

    async def remove(self, what: str, name: str, *path: str) -> dict[str, Any]:
        """Delete a resource; raises NotFound."""
        try:
            return await self.request(dict[str, Any], "DELETE", *path)
        except RequestRejected as error:
            if error.problem.code == "not_found":
                raise NotFound(what, name) from None
            raise

    async def tagged(
        self,
        method: str,
        *path: str,
        body: Any = None,
        query: Query | None = None,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Send a request about a resource that has versions; add the version to what is returned.

        A change with a version is made only to that version; 0: there is none yet.
        """
        headers = _expecting(version)
        reply = await self.send(method, *path, body=body, query=query, headers=headers)
        found = self._http.decode(reply, dict[str, Any])
        tag = reply.headers.get("etag", "").strip('"')
        return {**found, "version": int(tag)} if tag.isdecimal() and found else found

    async def rows(
        self, *path: str, query: Query | None = None, limit: int = 0
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield the rows of a list, page after page, `limit` at most (0: all)."""
        selected, count = dict(query or {}), 0
        while True:
            page = await self.request(dict[str, Any], "GET", *path, query=selected)
            rows = page["data"]
            for row in rows:
                yield row
                count += 1
                if count == limit:
                    return
            if page.get("nextCursor"):
                selected |= {"cursor": str(page["nextCursor"])}
            elif rows and page.get("offset", 0) + len(rows) < page.get("total", 0):
                selected |= {
                    "offset": str(page.get("offset", 0) + len(rows)),
                    "limit": str(page["limit"]),
                }
            else:
                return

    def forget_token(self) -> None:
        """Get a new token for the next request: the present one has expired."""
        self._is_token = False

    async def _authenticate(self) -> None:
        """Exchange key and secret for a token, once; without a secret the key itself is used."""
        settings = self._settings
        if self._is_token or not settings.api_secret:
            return
        if not settings.account:
            raise UsageError(f"{settings.source}: a secret needs the account, too")
        body = {"apiKey": settings.api_key, "apiSecret": settings.api_secret}
        path = f"/auth/get-access-token{path_of(settings.account)}"
        reply = await self._http.send("POST", path, body=json.dumps(body).encode())
        token = self._http.decode(reply, dict[str, Any])
        self._http.authorization, self._is_token = str(token["accessToken"]), True


def open_rest(settings: ClientSettings) -> RestClient:
    """Return a client of the REST layer of the settings; raises UsageError without one."""
    url = settings.api_url
    if not (url and settings.api_key):
        raise UsageError(NO_API.format(source=settings.source))
    if not is_url(url):
        raise UsageError(
            f"{settings.source}: api_url {url}: expected a URL such as http://127.0.0.1:8000"
        )
    http = HttpClient(url.rstrip("/"), settings.api_key, tls_context(url, settings.tls_ca))
    return RestClient(http, settings)


def _expecting(version: int | None) -> dict[str, str]:
    if version is None:
        return {}
    return {"If-Match": f'"{version}"'} if version else {"If-None-Match": "*"}
