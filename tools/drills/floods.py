"""`python -m tools.drills.floods URL WAY SECONDS`; a key is in the environment, if one is needed.

Floods: what a stranger or one account may ask for, as fast as it is answered, over a few
connections: what a request costs is what is tried. Prints the answers by status, as JSON. It is a
process of low priority, so that it takes no time of what it attacks, as one elsewhere.
"""

import asyncio
import itertools
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from tests.harness.api.contacts.sheets import bomb
from tests.harness.until import until

CONNECTIONS = 8
UPLOADS = 20
TABS, TAB_ROWS = 3_980, 300  # of a cell; a rejected row keeps 4,000 letters
LISTS = "/srmain/contacts_list"
IMPORT_TIMEOUT_S = 20
MAX_READ_BYTES = 10_000
LOWEST_PRIORITY = 19
PIPELINED = b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n"
CHUNKED = b"POST /auth/get-access-token/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"1\r\na\r\n"
KEY = "SWITCHROOM_DRILL_KEY"
Send = Callable[[], Awaitable[int]]


class Flood:
    """Requests of one attacker, with its key or without one."""

    def __init__(self, url: str, http: aiohttp.ClientSession, answers: Counter[str]) -> None:
        self._url = url
        self._http = http
        self._answers = answers
        self._numbers = itertools.count()

    async def read(self, path: str, until_s: float) -> None:
        """Read a page over a few connections."""

        async def send() -> int:
            return (await self._sent("GET", path))[0]

        await self._repeat(CONNECTIONS, send, until_s)

    async def write(self, head: bytes, part: bytes, until_s: float) -> None:
        """Write the part again and again over a few connections, and read no response."""
        address = urlsplit(self._url)

        async def send() -> int:
            _, writer = await asyncio.open_connection(address.hostname, address.port)
            try:
                async with asyncio.timeout(until_s - time.monotonic()):
                    writer.write(head)
                    while True:
                        writer.write(part)
                        await writer.drain()
            finally:
                writer.close()

        await self._repeat(CONNECTIONS, send, until_s)

    async def add_rows(self, until_s: float) -> None:
        """Put number after number on the do-not-call list, each with an idempotency key."""

        async def send() -> int:
            number = next(self._numbers)
            body = {"phoneNo": f"+4790{number:06}", "provider": "flood"}
            headers = {"Idempotency-Key": str(number)}
            return (await self._sent("POST", "/srmain/dnc", json=body, headers=headers))[0]

        await self._repeat(CONNECTIONS, send, until_s)

    async def upload_bombs(self, until_s: float) -> None:
        """Upload spreadsheets of a megabyte that inflate to a gigabyte."""
        content = bomb(1)

        async def send() -> int:
            return (await self.upload(content, f"bomb {next(self._numbers)}"))[0]

        await self._repeat(UPLOADS, send, until_s)

    async def download_tabs(self, until_s: float) -> None:
        """Download rejected rows that are cells of nothing but tabs."""
        rows = "".join(f"x{number},x{chr(9) * TABS}\r\n" for number in range(TAB_ROWS))
        status, made = await self.upload(f"Phone,Name\r\n{rows}".encode(), "tabs", delimiter=",")
        list_id = made.get("contactListId")
        mapped = {"mappings": {"Phone": "phoneNumber", "Name": "fName"}}
        await self._sent("POST", f"{LISTS}/map-fields/{list_id}", json=mapped)
        await self._sent("POST", f"{LISTS}/process-file/{list_id}")

        async def is_imported() -> bool:
            _, found = await self._sent("GET", f"{LISTS}/contactlists/{list_id}")
            return found.get("status") not in {"UPLOADED", "MAPPING_DONE", "PROCESSING"}

        await until(is_imported, timeout_s=IMPORT_TIMEOUT_S, every_s=0.5, what=f"import {status}")
        await self.read(f"{LISTS}/rejected-rows/{list_id}", until_s)

    async def upload(self, content: bytes, name: str, **more: str) -> tuple[int, Any]:
        """Upload a file; return status and response."""
        form = aiohttp.FormData()
        form.add_field("data", json.dumps({"name": name, **more}))
        form.add_field("file", content, filename="contacts.csv")
        return await self._sent("POST", f"{LISTS}/upload", data=form)

    async def _repeat(self, count: int, send: Send, until_s: float) -> None:
        async def repeat() -> None:
            while time.monotonic() < until_s:
                try:
                    answer = str(await send())
                except (aiohttp.ClientError, ConnectionError):
                    answer = "closed"
                except TimeoutError:
                    answer = "not read"
                self._answers[answer] += 1

        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(repeat())

    async def _sent(self, method: str, path: str, **more: Any) -> tuple[int, Any]:
        async with self._http.request(method, self._url + path, **more) as reply:
            body = await reply.read()
            is_small = reply.content_type == "application/json" and len(body) < MAX_READ_BYTES
            return reply.status, json.loads(body) if is_small else None


WAYS: Mapping[str, Callable[[Flood, float], Awaitable[None]]] = {
    "openapi flood": lambda flood, until_s: flood.read("/openapi.json", until_s),
    "metrics flood": lambda flood, until_s: flood.read("/metrics", until_s),
    "pipelined requests": lambda flood, until_s: flood.write(b"", 2_000 * PIPELINED, until_s),
    "tiny chunks": lambda flood, until_s: flood.write(CHUNKED, 4_000 * CHUNK, until_s),
    "upload bombs": Flood.upload_bombs,
    "cells of tabs": Flood.download_tabs,
    "rows flood": Flood.add_rows,
}
OF_STRANGERS = frozenset({"openapi flood", "metrics flood", "pipelined requests", "tiny chunks"})


async def flood(url: str, way: str, seconds: float) -> Counter[str]:
    """Attack in one way; return the answers by status."""
    answers: Counter[str] = Counter()
    headers = {} if way in OF_STRANGERS else {"Authorization": os.environ[KEY]}
    async with aiohttp.ClientSession(headers=headers, auto_decompress=False) as http:
        await WAYS[way](Flood(url, http, answers), time.monotonic() + seconds)
    return answers


if __name__ == "__main__":
    os.nice(LOWEST_PRIORITY)
    sys.stdout.write(json.dumps(asyncio.run(flood(sys.argv[1], sys.argv[2], float(sys.argv[3])))))
