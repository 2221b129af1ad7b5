"""Phones in browsers at a node: logins are added, expire, and are made again."""

import pytest
from msgspec.structs import replace

from engine.runtime.agents.phone_credentials import (
    MAX_LOGINS,
    CredentialStore,
    Login,
    PhoneCredentials,
    digests,
)
from engine.runtime.agents.phone_provisioning import COMPARED_EVERY, PhoneProvisioning
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.browser_phones import LIFE_MS, PHONE, START_MS, login, phone
from tests.harness.runtime.object_pbx import ObjectPbx
from tests.harness.store.documents import put_credentials, put_document
from wire.agents import PhoneKind


class Scene:
    """A node and the engine that provides it."""

    def __init__(self) -> None:
        self.pbx = ObjectPbx()
        self.now_ms = START_MS
        self.credentials = CredentialStore(MemoryStore())
        self.restart_engine()

    def restart_engine(self) -> None:
        """Let another engine provide the node."""
        self.provisioning = PhoneProvisioning(
            "pbx1", self.pbx, self.credentials, lambda: self.now_ms
        )

    async def put(self, credentials: PhoneCredentials) -> list[str]:
        """Store credentials; return what is changed at the node."""
        await put_credentials(self.credentials.store, PHONE, credentials)
        return await self.provide()

    async def provide(self) -> list[str]:
        """Provide once; return what was changed at the node."""
        before = len(self.pbx.changes)
        await self.provisioning.provide()
        return self.pbx.changes[before:]


def usernames(*logins: Login) -> list[str]:
    """Return the auth objects of a phone with these logins."""
    return ["ada", *(each.username for each in logins)]


async def test_the_first_login_makes_the_phone() -> None:
    """From the template of browsers, with a password of its own that is known to no one."""
    scene = Scene()
    await scene.put(phone(login(1)))
    made = scene.pbx.objects["endpoint/ada"]
    assert (made["webrtc"], made["aors"], made["identify_by"]) == ("yes", "ada", "username")
    assert scene.pbx.objects["aor/ada"] == {"max_contacts": "10"}
    assert scene.pbx.logins("ada") == usernames(login(1))
    digest = scene.pbx.objects[f"auth/{login(1).username}"]
    assert digest["username"] == login(1).username
    assert login(1).md5 in digest["password_digest"]


async def test_a_further_login_changes_nothing_else() -> None:
    """The other tabs and the phone's password stay as they are."""
    scene = Scene()
    await scene.put(phone(login(1)))
    changes = await scene.put(phone(login(1), login(2)))
    assert changes == [f"PUT auth/{login(2).username}", "PUT endpoint/ada"]
    assert scene.pbx.logins("ada") == usernames(login(1), login(2))


async def test_a_login_expires() -> None:
    """Without a request of anybody; the others stay valid."""
    scene = Scene()
    later = login(2, START_MS + 2 * LIFE_MS)
    await scene.put(phone(login(1), later))
    scene.now_ms += LIFE_MS - 1
    assert await scene.provide() == []
    scene.now_ms += 1
    assert await scene.provide() == ["PUT endpoint/ada", f"DELETE auth/{login(1).username}"]
    assert scene.pbx.logins("ada") == usernames(later)
    scene.now_ms += LIFE_MS
    await scene.provide()
    assert scene.pbx.objects["endpoint/ada"]["auth"] == "ada"


async def test_an_endpoint_never_lacks_a_password() -> None:
    """It would accept every call; also when no login was valid from the beginning."""
    scene = Scene()
    scene.now_ms += LIFE_MS
    await scene.put(phone(login(1)))
    assert scene.pbx.objects["endpoint/ada"]["auth"] == "ada"
    assert "auth/ada" in scene.pbx.objects


async def test_the_next_engine_leaves_it() -> None:
    """Also with so many logins that Asterisk shows only the first ones."""
    scene = Scene()
    await scene.put(phone(*map(login, range(MAX_LOGINS))))
    scene.restart_engine()
    assert await scene.provide() == []


async def test_the_next_engine_knows_what_has_expired() -> None:
    """A login that has expired while no engine provided the node."""
    scene = Scene()
    await scene.put(phone(login(1)))
    scene.restart_engine()
    scene.now_ms += LIFE_MS
    assert await scene.provide() == ["PUT endpoint/ada", f"DELETE auth/{login(1).username}"]


async def test_a_restarted_node_gets_the_valid_logins() -> None:
    """And loses the digests of those that have expired meanwhile."""
    scene = Scene()
    later = login(2, START_MS + 2 * LIFE_MS)
    await scene.put(phone(login(1), later))
    scene.pbx.restart()
    scene.now_ms += LIFE_MS
    await scene.provide()
    assert scene.pbx.logins("ada") == usernames(later)
    assert f"auth/{login(1).username}" not in scene.pbx.objects


async def test_a_sip_phone_becomes_a_browser_and_back() -> None:
    """The endpoint is made again, also by an engine that has not made the first one."""
    scene = Scene()
    sip = PhoneCredentials("acme", "ada", "Ada", *digests("ada", "a password"))
    await scene.put(sip)
    for credentials, webrtc in ((phone(login(1)), "yes"), (sip, "no"), (phone(login(2)), "yes")):
        scene.restart_engine()
        await scene.put(credentials)
        assert scene.pbx.objects["endpoint/ada"]["webrtc"] == webrtc
        assert scene.pbx.logins("ada") == usernames(*credentials.logins)


@pytest.mark.parametrize("count", [2, MAX_LOGINS])
async def test_a_removed_phone_leaves_nothing(count: int) -> None:
    """Neither endpoint nor digests; also of logins that Asterisk does not show any more."""
    scene = Scene()
    before = dict(scene.pbx.objects)
    await scene.put(phone(*map(login, range(count))))
    await put_document(scene.credentials.store, "acme", "phone", "ada", None)
    await scene.provide()
    assert scene.pbx.objects == before


@pytest.mark.parametrize("kind", ["browser", "sip"])
async def test_many_logins_that_end_leave_no_digests(kind: PhoneKind) -> None:
    """Withdrawn all together, or with the browser."""
    scene = Scene()
    await scene.put(phone(*map(login, range(MAX_LOGINS))))
    await scene.put(replace(phone(), kind=kind, withdrawals=1))
    own = {each for each in scene.pbx.objects if not each.endswith("-template")}
    assert own == {"endpoint/ada", "aor/ada", "auth/ada"}


async def test_a_node_without_browsers() -> None:
    """Its phone is not made, nor tried again all the time; other phones are."""
    scene = Scene()
    for kind in ("endpoint", "aor", "auth"):
        del scene.pbx.objects[f"{kind}/browser-template"]
    assert await scene.put(phone(login(1))) == []
    assert await scene.provisioning.provide()
    changes = [each for _ in range(COMPARED_EVERY) for each in await scene.provide()]
    assert changes == []


async def test_changes_are_read_without_asking_the_node() -> None:
    """So a login is at the node within a moment, at no cost while nothing changes."""
    scene = Scene()
    await scene.put(phone(login(1)))
    before = scene.pbx.request_count
    await scene.provisioning.provide(only_changes=True)
    assert scene.pbx.request_count == before
    await put_credentials(scene.credentials.store, PHONE, phone(login(1), login(2)))
    await scene.provisioning.provide(only_changes=True)
    assert scene.pbx.logins("ada") == usernames(login(1), login(2))


def test_a_phone_keeps_its_last_logins() -> None:
    """Those that expire last: a program that creates them in a loop does not fill the store."""
    kept = phone()
    for number in range(MAX_LOGINS + 3):
        kept = kept.with_login(login(number, START_MS + number))
    assert [each.expires_ms for each in kept.logins] == [
        START_MS + number for number in range(3, MAX_LOGINS + 3)
    ]
    assert kept.valid_at(START_MS + 5) == replace(kept, logins=kept.logins[3:])


DROPPED = ["DELETE aor/ada", "PUT aor/ada", "PUT endpoint/ada"]


async def test_a_withdrawn_login_ends_the_registrations() -> None:
    """After the node accepts it no more; not again by the next engine, nor by a further login."""
    scene = Scene()
    await scene.put(phone(login(1), login(2)))
    changes = await scene.put(replace(phone(login(2)), withdrawals=1))
    marked = ["PUT endpoint/ada"] * 2
    assert changes == [*marked, f"DELETE auth/{login(1).username}", *DROPPED]
    assert await scene.provide() == []
    scene.restart_engine()
    assert await scene.provide() == []
    added = await scene.put(replace(phone(login(2), login(3)), withdrawals=1))
    assert not set(DROPPED[:2]) & set(added)


async def test_a_registration_that_ends_late_leaves_no_address() -> None:
    """Asterisk gives an AOR the registered addresses, which then would never expire."""
    scene = Scene()
    await scene.put(phone(login(1)))
    scene.pbx.registered["ada"] = "sip:ada@10.0.0.1"
    changes = await scene.put(replace(phone(), withdrawals=1))
    assert changes[-5:] == [*DROPPED[:2], *DROPPED]
    assert scene.pbx.objects["aor/ada"] == {"max_contacts": "10"}


async def test_an_address_record_is_kept_through_a_restart() -> None:
    """With its registrations; one of another template is deleted, with them, and made again."""
    scene = Scene()
    await scene.put(phone(login(1)))
    scene.pbx.registered["ada"] = "sip:ada@10.0.0.1"
    scene.pbx.restart()
    changes = await scene.provide()
    assert "PUT endpoint/ada" in changes
    assert "PUT aor/ada" not in changes
    assert scene.pbx.objects["aor/ada"] == {"max_contacts": "10"}
    scene.pbx.objects["aor/browser-template"] = {"max_contacts": "5"}
    scene.pbx.started = "12:00"
    del scene.pbx.objects["endpoint/ada"]
    changes = await scene.provide()
    assert [each for each in changes if "aor/" in each][:2] == DROPPED[:2]
    assert scene.pbx.objects["aor/ada"] == {"max_contacts": "5"}
    assert scene.pbx.registered == {}


async def test_a_node_that_hangs_may_have_the_address_record() -> None:
    """It is not put over the one with the registrations."""
    scene = Scene()
    await scene.put(phone(login(1)))
    scene.pbx.registered["ada"] = "sip:ada@10.0.0.1"
    scene.pbx.restart()
    scene.pbx.hidden = {"aor/ada"}
    assert not {"PUT aor/ada", "DELETE aor/ada"} & set(await scene.provide())
    scene.pbx.hidden = set()
    assert "PUT endpoint/ada" in await scene.provide()
    assert scene.pbx.registered == {"ada": "sip:ada@10.0.0.1"}


async def test_the_next_engine_withdraws_what_the_one_before_did_not() -> None:
    """A login whose key ended while no engine provided the node."""
    scene = Scene()
    await scene.put(phone(login(1)))
    scene.restart_engine()
    changes = await scene.put(replace(phone(), withdrawals=1))
    assert changes[-3:] == DROPPED
    assert scene.pbx.logins("ada") == ["ada"]


async def test_another_password_ends_the_registrations() -> None:
    """Because it ends all logins."""
    scene = Scene()
    await scene.put(phone(login(1)))
    other = digests("ada", "another password")
    changes = await scene.put(replace(phone(), md5=other[0], sha256=other[1]))
    assert changes[-3:] == DROPPED


@pytest.mark.parametrize("done", range(6))
async def test_an_engine_dies_while_it_withdraws_a_login(done: int) -> None:
    """After any request to the node; the next engine ends the registrations all the same."""
    scene = Scene()
    await scene.put(phone(login(1), login(2)))
    scene.pbx.fail_after(done)
    assert len(await scene.put(replace(phone(login(2)), withdrawals=1))) == done
    scene.pbx.recover()
    scene.restart_engine()
    changes = await scene.provide()
    assert changes[-3:] == DROPPED
    assert scene.pbx.objects["aor/ada"] == {"max_contacts": "10"}
    assert scene.pbx.logins("ada") == usernames(login(2))
    scene.restart_engine()
    assert await scene.provide() == []
