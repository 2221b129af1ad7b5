"""Agents' phones at a node: made from the template, changed, deleted."""

import asyncio
import json
from typing import Any

from msgspec.structs import replace

from engine.ari.request import Reply, Request
from engine.runtime.agents.phone_credentials import CredentialStore, digest_credentials
from engine.runtime.agents.phone_provisioning import (
    BATCH_SIZE,
    COMPARED_EVERY,
    CONCURRENCY,
    PhoneProvisioning,
)
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.store.documents import put_credentials, put_document

CONFIG = "asterisk/config/dynamic/res_pjsip"
TEMPLATES: dict[str, dict[str, str]] = {
    "auth": {"supported_algorithms_uas": "SHA-256,MD5", "password": "of the template"},
    "aor": {"max_contacts": "1", "mailboxes": ""},
    "endpoint": {
        "allow": "(ulaw|alaw)",
        "identify_by": "ip",
        "stir_shaken": "no",
        "PJSIP_TRANSFER_HANDLING()": "ari-only",
    },
}
ANNA = digest_credentials("acme", "anna", "PJSIP/anna", 'Anna "A" <x>', "a password")

MADE = [
    f"DELETE {CONFIG}/auth/anna",
    *(f"PUT {CONFIG}/{kind}/anna" for kind in ("auth", "aor", "endpoint")),
]
DELETED = [f"DELETE {CONFIG}/{kind}/anna" for kind in ("endpoint", "aor", "auth")]


def tuples(fields: dict[str, str]) -> bytes:
    """Return fields as ARI shows them."""
    shown = [{"attribute": name, "value": value} for name, value in fields.items()]
    return json.dumps(shown).encode()


class SlowPbx(RecordingPbx):
    """A PBX that takes a moment for each request, and counts those at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.in_flight = self.most_in_flight = 0

    async def ask(self, request: Request) -> Reply:
        """Answer a query a little later."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        return await super().ask(request)


class Scene:
    """A node with the template, and the credentials of phones."""

    def __init__(self, pbx: RecordingPbx | None = None) -> None:
        self.pbx = pbx or RecordingPbx()
        self.now_ms = 1_000
        self.requests: list[Request] = []
        self.pbx.on_ask = self.requests.append
        self.store = MemoryStore()
        self.credentials = CredentialStore(self.store)
        self.provisioning = PhoneProvisioning(
            "pbx1", self.pbx, self.credentials, lambda: self.now_ms
        )
        self.start("10:00")
        self.show("trunk")
        for kind, fields in TEMPLATES.items():
            path = f"{CONFIG}/{kind}/agent-template"
            self.pbx.shows[path] = Reply(200, tuples(fields))
            self.pbx.shows[f"{CONFIG}/{kind}/anna"] = Reply(200, b"[]")

    def start(self, time: str) -> None:
        """Let the node say when it has started."""
        status = {"startup_time": time, "last_reload_time": time}
        self.pbx.shows["asterisk/info"] = Reply(200, json.dumps({"status": status}).encode())

    def show(self, *names: str) -> None:
        """Let the node list these endpoints."""
        found = [
            {"technology": "PJSIP", "resource": name, "state": "offline", "channel_ids": []}
            for name in names
        ]
        self.pbx.shows["endpoints/PJSIP"] = Reply(200, json.dumps(found).encode())

    def restart_engine(self) -> None:
        """Let another engine provide the node."""
        self.provisioning = PhoneProvisioning(
            "pbx1", self.pbx, self.credentials, lambda: self.now_ms
        )

    async def provide(self) -> list[str]:
        """Provide once; return the changes that were requested."""
        before = len(self.changes())
        await self.provisioning.provide()
        return [f"{each.method} {each.path}" for each in self.changes()[before:]]

    def changes(self) -> list[Request]:
        """Return the requests that change the node."""
        return [each for each in self.requests if each.method != "GET"]

    def fields(self, kind: str) -> list[tuple[str, str]]:
        """Return the fields of the last object of a kind."""
        puts = [
            each for each in self.changes() if each.method == "PUT" and f"/{kind}/" in each.path
        ]
        body: dict[str, Any] = puts[-1].body or {}
        return [(each["attribute"], each["value"]) for each in body["fields"]]


async def test_a_phone_is_made_from_the_template() -> None:
    """The PBX decides its options; name, digests and address record are its own."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    assert await scene.provide() == MADE
    assert scene.fields("auth") == [
        ("auth_type", "digest"),
        ("username", "anna"),
        ("password_digest", f"MD5:{ANNA.md5}"),
        ("password_digest", f"SHA-256:{ANNA.sha256}"),
        ("supported_algorithms_uas", "SHA-256,MD5"),
    ]
    assert scene.fields("aor") == [("max_contacts", "1")]
    assert scene.fields("endpoint") == [
        ("allow", "!all,ulaw,alaw"),
        ("set_var", "PJSIP_TRANSFER_HANDLING()=ari-only"),
        ("auth", "anna"),
        ("aors", "anna"),
        ("identify_by", "username"),
        ("callerid", '"Anna A x" <anna>'),
    ]


async def test_the_name_of_a_phone_is_one_line() -> None:
    """A line break in it would begin a header of SIP."""
    scene = Scene()
    name = "Anna\r\nP-Asserted-Identity: x\x00"
    await put_credentials(scene.credentials.store, "PJSIP/anna", replace(ANNA, name=name))
    await scene.provide()
    assert dict(scene.fields("endpoint"))["callerid"] == '"Anna P-Asserted-Identity: x" <anna>'


async def test_a_phone_is_made_once_and_after_a_restart() -> None:
    """A node that has it gets nothing; one that has lost it gets it again, at the latest soon."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    await scene.provide()
    scene.show("trunk", "anna")
    assert await scene.provide() == []
    before = len(scene.requests)
    await scene.provide()
    assert [each.path for each in scene.requests[before:]] == ["asterisk/info"]  # no endpoints
    scene.show("trunk")
    scene.start("11:00")
    assert len(await scene.provide()) == 4
    assert sum([len(await scene.provide()) for _ in range(COMPARED_EVERY + 1)]) == 4


async def test_a_new_password_changes_the_digests_only() -> None:
    """The endpoint stays, with its calls and its registration."""
    scene = Scene()
    scene.show("trunk", "anna")
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    assert await scene.provide() == [f"DELETE {CONFIG}/auth/anna", f"PUT {CONFIG}/auth/anna"]


async def test_the_next_engine_changes_nothing() -> None:
    """A phone that the engine before has made registers all the time; another password is set."""
    scene = Scene()
    scene.show("trunk", "anna")
    digests = {"password_digest": f"MD5:{ANNA.md5},SHA-256:{ANNA.sha256}"}
    scene.pbx.shows[f"{CONFIG}/auth/anna"] = Reply(200, tuples(digests))
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    assert await scene.provide() == []
    await put_credentials(scene.credentials.store, "PJSIP/anna", replace(ANNA, md5="0" * 32))
    assert await scene.provide() == [f"DELETE {CONFIG}/auth/anna", f"PUT {CONFIG}/auth/anna"]


async def test_a_removed_phone_is_deleted() -> None:
    """With its address record and its digests."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    await put_document(scene.credentials.store, "acme", "phone", "anna", None)
    scene.show("trunk", "anna")
    assert await scene.provide() == DELETED
    scene.show("trunk")
    assert await scene.provide() == []


async def test_a_phone_that_was_removed_before_is_deleted() -> None:
    """By an engine that has just begun to provide the node."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    await scene.provide()
    scene.show("trunk", "anna")
    await put_document(scene.credentials.store, "acme", "phone", "anna", None)
    scene.restart_engine()
    assert await scene.provide() == DELETED


async def test_a_store_that_lost_everything_deletes_no_phone() -> None:
    """Not at the node; and if that restarts, the engine still knows the phone."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    await scene.provide()
    scene.show("trunk", "anna")
    scene.store.documents.clear()
    assert await scene.provide() == []
    scene.show("trunk")
    scene.start("11:00")
    assert f"PUT {CONFIG}/endpoint/anna" in await scene.provide()
    scene.show("trunk", "anna")
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    assert await scene.provide() == []


async def test_a_new_password_comes_before_many_others() -> None:
    """A node that gets thousands of phones again does not delay it."""
    scene = Scene()
    for number in range(BATCH_SIZE + 1):
        scene.pbx.shows[f"{CONFIG}/auth/a{number}"] = Reply(200, b"[]")
        scene.pbx.shows[f"{CONFIG}/aor/a{number}"] = Reply(200, b"[]")
        scene.pbx.shows[f"{CONFIG}/endpoint/a{number}"] = Reply(200, b"[]")
        found = digest_credentials("acme", f"a{number}", f"PJSIP/a{number}", "", "a password")
        await put_credentials(scene.credentials.store, f"PJSIP/a{number}", found)
    assert not await scene.provisioning.provide()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    assert await scene.provide() == [*MADE, *(each.replace("anna", "a99") for each in MADE)]
    assert await scene.provisioning.provide()


async def test_one_phone_that_fails_does_not_stop_others() -> None:
    """It is tried again with the next round."""
    scene = Scene()
    for name in ("aaron", "anna"):
        found = digest_credentials("acme", name, f"PJSIP/{name}", "", "a password")
        await put_credentials(scene.credentials.store, f"PJSIP/{name}", found)
    scene.pbx.shows[f"{CONFIG}/auth/aaron"] = Reply(500)
    assert f"PUT {CONFIG}/endpoint/anna" in await scene.provide()
    scene.show("trunk", "anna")
    assert await scene.provide() == [f"DELETE {CONFIG}/auth/aaron", f"PUT {CONFIG}/auth/aaron"]


async def test_a_phone_that_a_file_configures() -> None:
    """It keeps the password that it has there, and the node's endpoint stays as it is."""
    scene = Scene()
    await put_credentials(scene.credentials.store, "PJSIP/anna", ANNA)
    scene.pbx.shows[f"{CONFIG}/auth/anna"] = Reply(403)
    assert await scene.provide() == [f"DELETE {CONFIG}/auth/anna", f"PUT {CONFIG}/auth/anna"]
    assert await scene.provide() == []


async def test_several_phones_are_made_at_the_same_time() -> None:
    """The PBX waits for its disk; but a call's requests wait for few of them."""
    pbx = SlowPbx()
    scene = Scene(pbx)
    for number in range(2 * CONCURRENCY):
        for kind in TEMPLATES:
            pbx.shows[f"{CONFIG}/{kind}/a{number}"] = Reply(200, b"[]")
        found = digest_credentials("acme", f"a{number}", f"PJSIP/a{number}", "", "a password")
        await put_credentials(scene.credentials.store, f"PJSIP/a{number}", found)
    changes = await scene.provide()
    made = {f"PUT {CONFIG}/endpoint/a{number}" for number in range(2 * CONCURRENCY)}
    assert made <= set(changes)
    assert pbx.most_in_flight == CONCURRENCY


async def test_without_passwords_a_node_gets_no_request() -> None:
    """As in a lab whose phones share one password."""
    scene = Scene()
    await scene.provisioning.provide()
    assert scene.requests == []
