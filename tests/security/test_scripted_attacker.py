"""A script with one agent's token tries every route with every id: it reads no other record."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.harness.api.agent_requests import BASE, OTHER, requests_in
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import CUSTOMER, leg, record, write_calls
from tests.harness.api.databases import sqlite_url
from tests.harness.api.operation_list import operations
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.conversation import AGENT, Conversation, talking
from tests.harness.rpc.scene import RpcScene

STREAM = f"{BASE}/events"  # without end; test_scopes has it
SECRET = "Vera"  # noqa: S105 - the name that stands in each record that the token may not read
VERA = leg(f"agent:{AGENT}", agent_id=AGENT, agent_name=SECRET)
QUERY = {
    **REQUIRED,
    "agentName": SECRET,
    "number": CUSTOMER,
    "limit": "10",
    "offset": "0",
    "accountId": "other",
    "contactPoolId": "1",
}
LISTS = (
    "/auth/me",  # of the caller itself
    "/srmain/cdr",
    "/srmain/cdr/customer-history",
    f"{BASE}/active-call-details",
    f"{BASE}/calls",
)


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    """Provide the REST layer without the quota of requests, which would stop the script early."""
    settings = settings_for(sqlite_url(tmp_path), scene.url, api_requests_per_s=1e6)
    async with run_rest(settings, scene) as made:
        yield made


class Victims(Struct, frozen=True):
    """What the token must not reach: a live call, and the ids of all things."""

    talk: Conversation
    ids: tuple[str, ...]

    def bodies(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Return requests about the live call in any agent's name, by path."""
        for agent in (OTHER, AGENT):
            yield from requests_in(self.talk, agent).items()


async def victims(rest: Rest) -> Victims:
    """Give agent 1001 a live call, and both accounts records, exports and a contact list."""
    talk = await talking(rest.scene)
    records = [record(1, legs=(VERA,)), record(2, account_id="other", legs=(VERA,))]
    await write_calls(rest.services.database, *records)
    ids = {*(each.call_id for each in records), talk.call, talk.customer, talk.agent}
    for who in ("acme", "other"):
        token = await rest.token_of(who, who)
        lists = "/srmain/contacts_list/inbound-contact-list"
        made = await rest.request("POST", lists, {"name": SECRET}, token=token)
        export = await rest.request(
            "POST", "/srmain/cdr/export", {"format": "csv"}, token=token, params=QUERY
        )
        ids |= {*_ids(made.json()), *_ids(export.json())}
    return Victims(talk, (*sorted(ids), AGENT, "acme", "other", "1", "2", "2026-11-21"))


def _ids(found: Any) -> Iterator[str]:
    """Return the ids in a response, at any depth."""
    for name, value in found.items() if isinstance(found, dict) else ():
        if isinstance(value, dict):
            yield from _ids(value)
        elif name.lower().endswith("id") and value:
            yield str(value)


def _urls(path: str, ids: tuple[str, ...]) -> Iterator[str]:
    """Return a path with each combination of ids; beyond one parameter, of the same id in all."""
    parts = path.split("/")
    free = [number for number, part in enumerate(parts) if part.startswith("{")]
    chosen = itertools.product(ids, repeat=1) if free else ((),)
    for each in chosen:
        filled = dict.fromkeys(free, each[0]) if each else {}
        yield "/".join(filled.get(number, part) for number, part in enumerate(parts))


async def test_no_other_record_is_read(rest: Rest) -> None:
    """Nor changed: lists are empty, all else is denied, and the live call goes on unchanged."""
    found = await victims(rest)
    before = await found.talk.shown()
    token = await rest.token_of("acme", agentId=OTHER)
    tried = 0
    for each in operations():
        if each.scope is None or each.path == STREAM:
            continue
        for url in _urls(each.path, found.ids):
            for body in ({}, {"callId": found.talk.call}):
                answer = await rest.request(
                    each.method, url, body, token=token, params=QUERY if not body else {}
                )
                assert SECRET not in answer.text, url
                assert answer.status_code not in {401, 429, 500}, (url, answer.text)
                is_about_others = "{" in each.path or bool(body)
                is_list = not each.path.endswith("}") and each.path.startswith(LISTS)
                if is_about_others and not is_list:
                    assert not answer.is_success, (each.method, url, answer.text)
                tried += 1
    for path, body in found.bodies():
        answer = await rest.request("POST", f"{BASE}/{path}", body, token=token)
        assert answer.status_code in {403, 404}, (path, answer.text)
    assert tried > 1_000
    assert await found.talk.shown() == before


async def test_the_records_are_there_for_the_account(rest: Rest) -> None:
    """Otherwise the script would prove nothing: the key of the account finds them."""
    found = await victims(rest)
    page = await rest.request("GET", "/srmain/cdr", params={**REQUIRED, "agentName": SECRET})
    assert (page.json()["total"], SECRET in page.text) == (1, True)
    live = await rest.request("GET", f"{BASE}/call-details/{found.talk.call}")
    assert live.status_code == 200
