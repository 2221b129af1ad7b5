"""Files of contacts, uploaded and imported, for tests."""

import csv
import io
import json
from pathlib import Path
from typing import Any, BinaryIO

import aiohttp

from api.jobs.worker import Worker
from tests.harness.api.serving import Served
from tests.harness.servers.records_api import RecordsApi

BASE = "/srmain/contacts_list"
PHONES = {"Phone": "phoneNumber"}


async def sent(  # noqa: PLR0913 - a form has that many parts
    rest: Served,
    content: bytes | None,
    *,
    who: str = "acme",
    path: str = "/upload",
    method: str = "POST",
    file_name: str = "contacts.csv",
    **data: Any,
) -> tuple[int, Any]:
    """Send a form; a list is named Spring by default."""
    file = None if content is None else io.BytesIO(content)
    said = {"name": "Spring", **data} if method == "POST" else data
    url, headers = f"{rest.url}{BASE}{path}", rest.headers(who)
    form = form_of(file, file_name, said)
    async with rest.http.request(method, url, data=form, headers=headers) as reply:
        return reply.status, await reply.json(content_type=None)


def form_of(file: BinaryIO | None, file_name: str, data: object) -> aiohttp.FormData:
    """Return a form."""
    form = aiohttp.FormData(default_to_multipart=True, quote_fields=False)
    if file is not None:
        form.add_field("file", file, filename=file_name)
    form.add_field("data", json.dumps(data))
    return form


async def sent_to(api: RecordsApi, file: BinaryIO, mappings: dict[str, str], **data: Any) -> str:
    """Create a list from a file in another process, and map its columns; return its id."""
    made = await _posted(api, "POST", "/upload", file, data)
    list_id = str(made["contactListId"])
    await _mapped_in(api, list_id, mappings)
    return list_id


async def replaced(api: RecordsApi, path: Path, list_id: str, mappings: dict[str, str]) -> None:
    """Replace the file of a list in another process, and map its columns."""
    with path.open("rb") as file:
        await _posted(api, "PATCH", f"/updatecontactlist/{list_id}", file, {})
    await _mapped_in(api, list_id, mappings)


async def _posted(
    api: RecordsApi, method: str, path: str, file: BinaryIO, data: dict[str, Any]
) -> dict[str, Any]:
    headers, form = {"Authorization": api.api_key}, form_of(file, "contacts", data)
    async with (
        aiohttp.ClientSession(headers=headers) as http,
        http.request(method, f"{api.url}{BASE}{path}", data=form) as reply,
    ):
        made: dict[str, Any] = await reply.json()
        assert reply.ok, made
    return made


async def _mapped_in(api: RecordsApi, list_id: str, mappings: dict[str, str]) -> None:
    body = {"mappings": mappings}
    status, result = await api.request("POST", f"{BASE}/map-fields/{list_id}", body)
    assert status == 200, result


async def uploaded(rest: Served, content: bytes, **data: Any) -> str:
    """Create a list from a file; return its id."""
    status, made = await sent(rest, content, **data)
    assert (status, made.get("status")) == (201, "UPLOADED"), made
    return str(made["contactListId"])


async def rejected_upload(rest: Served, content: bytes, **data: Any) -> str:
    """Upload a file that can't be read; return the reason."""
    status, answer = await sent(rest, content, **data)
    assert (status, [each["path"] for each in answer["errors"]]) == (400, ["file"]), answer
    return str(answer["errors"][0]["message"])


async def mapped(rest: Served, list_id: str, mappings: dict[str, str]) -> None:
    """Map a list's columns."""
    body = {"mappings": mappings}
    status, found = await rest.request("POST", f"{BASE}/map-fields/{list_id}", "acme", body)
    assert (status, found.get("status")) == (200, "MAPPING_DONE"), found


async def run_job(rest: Served) -> bool:
    """Run the next job, if there is one."""
    parts = rest.services
    return await Worker(parts.jobs, parts.lists.jobs, parts.metrics).once()


async def processed(rest: Served, list_id: str, **query: object) -> dict[str, Any]:
    """Import a list's file; return the list."""
    status, found = await rest.request("POST", f"{BASE}/process-file/{list_id}", "acme", **query)
    assert (status, found.get("status")) == (200, "PROCESSING"), found
    assert await run_job(rest)
    _, found = await rest.request("GET", f"{BASE}/contactlists/{list_id}")
    return dict(found)


async def imported(
    rest: Served, content: bytes, mappings: dict[str, str] | None = None, **data: Any
) -> tuple[str, dict[str, Any]]:
    """Upload, map and import a file; return the list's id and the results."""
    list_id = await uploaded(rest, content, **data)
    await mapped(rest, list_id, mappings or PHONES)
    found = await processed(rest, list_id)
    assert found["status"] == "COMPLETED", found
    return list_id, found["processing"]


async def contacts(rest: Served, list_id: str) -> list[dict[str, Any]]:
    """Return a list's contacts, by number."""
    status, found = await rest.request("GET", f"{BASE}/get-contact/{list_id}", limit=1_000)
    assert status == 200, found
    return sorted(found["data"], key=lambda each: str(each["phoneNumber"]))


async def rejected(rest: Served, list_id: str) -> list[list[str]]:
    """Download the rejected rows, without the header."""
    content = await rejected_file(rest, list_id)
    return list(csv.reader(io.StringIO(content.decode())))[1:]


async def rejected_file(rest: Served, list_id: str) -> bytes:
    """Download the rejected rows as a file."""
    url = f"{rest.url}{BASE}/rejected-rows/{list_id}"
    async with rest.http.get(url, headers=rest.headers("acme")) as reply:
        assert reply.status == 200, await reply.text()
        return await reply.read()
