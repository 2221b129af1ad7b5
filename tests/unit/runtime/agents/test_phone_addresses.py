"""A phone is called only at the addresses that it has logged in from."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
import pytest_asyncio

from base.tasks import cancel_all
from engine.ami.contacts import AddressRecord, Contact, address_of_contact, contact_id
from engine.ari.request import Reply, Request
from engine.runtime.agents.phone_addresses import LOGIN_MS, PhoneAddresses
from tests.harness.runtime.object_pbx import ObjectPbx
from tests.harness.runtime.shard_scene import ManualClock
from tests.harness.until import until

FROM = "IPV4/UDP/192.0.2.1/5062"
OWN = "sip:1001@192.0.2.1:5062"
NAT = f"{OWN};ob;x-ast-orig-host=10.0.0.5:5060"
CARRIER = "sip:+18765551234@198.51.100.7:5060"
TAB = "sip:x7@192.0.2.1:5062;transport=WS"
OTHER_TAB = "sip:x8@192.0.2.9:4000;transport=ws"
RECORD = "aor/1001~"


class Scene:
    """A node with a phone, 1001."""

    def __init__(self) -> None:
        self.pbx, self.clock = ObjectPbx(), ManualClock()
        self.addresses = PhoneAddresses(
            "pbx1", self.pbx, lambda each: each == "PJSIP/trunk", self.clock.now_ms, 0.001
        )
        self.addresses.on_listed([], [])

    def status(
        self, uri: str, *, is_reachable: bool | None = True, name: str = "1001", waited_ms: int = 0
    ) -> None:
        """Report the status of a contact."""
        contact = Contact(name, uri, is_reachable, contact_id(name, uri), name)
        self.addresses.on_contact(contact, waited_ms)

    def logs_in(self, *uris: str, at: str = FROM) -> None:
        """Register contacts from an address."""
        self.addresses.on_login("1001", at)
        for each in uris:
            self.status(each)

    @property
    def called(self) -> str:
        """Return the contacts that are called."""
        records = {name: each for name, each in self.pbx.objects.items() if "1001~" in name}
        assert len(records) < 2 or RECORD not in records
        return ",".join(sorted(each["contact"] for each in records.values()))

    async def calls(self, uris: str) -> None:
        """Wait until calls go to some contacts."""
        await until(lambda: self.called == uris, what=uris)

    async def deletes(self, uri: str) -> None:
        """Wait until a contact is deleted."""
        name = f"DELETE contact/{quote(contact_id('1001', uri), safe='')}"
        await until(lambda: name in self.pbx.changes, what=name)


@pytest_asyncio.fixture
async def scene() -> AsyncIterator[Scene]:
    found = Scene()
    task = asyncio.get_running_loop().create_task(found.addresses.run())
    yield found
    await cancel_all([task])


@pytest.mark.parametrize(
    "uri",
    [OWN, NAT, "sips:a%40b@192.0.2.1:5062;transport=tls", "sip:192.0.2.1:5062;line=7f"],
)
async def test_a_phone_is_called_where_it_is(scene: Scene, uri: str) -> None:
    """Also behind NAT, as Asterisk has replaced its address."""
    scene.logs_in(uri)
    await scene.calls(uri)


async def test_ipv6(scene: Scene) -> None:
    """Addresses are compared, not their spelling."""
    uri = "sip:1001@[2001:DB8::1]:5060"
    scene.logs_in(uri, at="IPV6/TCP/2001:db8:0::1/5060")
    await scene.calls(uri)


@pytest.mark.parametrize(
    "uri",
    [
        CARRIER,
        "sip:+18765551234@carrier.example.com",
        "sip:+18765551234@192.0.2.1:5080",
        "sip:+18765551234@192.0.2.1",
        'sip:198.51.100.7:5060;x="@192.0.2.1:5062"',
        "sip:198.51.100.7:5060;x=a@192.0.2.1:5062",
        "sip:198.51.100.7,sip:a@192.0.2.1:5062",
        f"{OWN};MADDR=198.51.100.7",
        f"{OWN};%6daddr=198.51.100.7",
        f"{OWN}?Route=%3Csip:198.51.100.7%3E",
        f'{OWN};x="&PJSIP/trunk"',
        f"{OWN};x=1&PJSIP/trunk",
        f"{OWN}@198.51.100.7:5060",
        "sip:x@192.0.2.1.:5062",
        "",
    ],
)  # fmt: skip
async def test_another_contact_is_deleted(scene: Scene, uri: str) -> None:
    """And not called, whatever the phone has registered with it."""
    scene.logs_in(OWN)
    await scene.calls(OWN)
    scene.logs_in(uri)
    await scene.deletes(uri)
    assert scene.called == OWN
    assert address_of_contact(uri) != address_of_contact(OWN)


async def test_a_login_is_good_for_a_moment(scene: Scene) -> None:
    """A phone may have given its address up since then."""
    scene.logs_in()
    scene.clock.pass_ms(LOGIN_MS + 1)
    scene.status(OWN)
    await scene.deletes(OWN)
    assert not scene.called


async def test_an_answer_that_comes_late(scene: Scene) -> None:
    """A login is as old as it was when the node spoke of the contact."""
    scene.logs_in()
    scene.clock.pass_ms(LOGIN_MS + 1)
    scene.status(OWN, waited_ms=1)
    await scene.calls(OWN)


async def test_a_phone_that_moves_is_called_at_its_new_address(scene: Scene) -> None:
    """Only there: one login has one contact."""
    scene.logs_in(OWN)
    await scene.calls(OWN)
    moved = "sip:1001@192.0.2.8:6000"
    scene.logs_in(moved, at="IPV4/TLS/192.0.2.8/6000")
    await scene.calls(moved)
    await scene.deletes(OWN)


async def test_tabs_ring_together(scene: Scene) -> None:
    """One contact of each; that of a tab which registers again replaces the one before."""
    scene.logs_in(TAB)
    scene.logs_in(OTHER_TAB, at="IPV4/WS/192.0.2.9/4000")
    await scene.calls(f"{TAB},{OTHER_TAB}")
    assert f"aor/1001~{contact_id('', TAB)[2:]}" in scene.pbx.objects
    again = TAB.replace("x7", "x9")
    scene.logs_in(again)
    await scene.calls(",".join(sorted((OTHER_TAB, again))))
    await scene.deletes(TAB)
    scene.status(OTHER_TAB, is_reachable=None)
    await scene.calls(again)


async def test_a_phone_that_does_not_answer_is_not_called(scene: Scene) -> None:
    """Until it does; nor one that has unregistered."""
    scene.logs_in(OWN)
    await scene.calls(OWN)
    scene.status(OWN, is_reachable=False)
    await scene.calls("")
    scene.status(OWN)
    await scene.calls(OWN)
    scene.status(OWN, is_reachable=None)
    await scene.calls("")


async def test_a_phone_that_registers_before_the_list_stays(scene: Scene) -> None:
    """Its login has been heard, its contact has not."""
    scene.addresses.on_unwatched()
    scene.addresses.on_login("1001", FROM)
    own = Contact("1001", OWN, True, contact_id("1001", OWN), "1001")
    other = Contact("1001", CARRIER, True, contact_id("1001", CARRIER), "1001")
    scene.addresses.on_listed([], [own, other])
    await scene.deletes(CARRIER)
    await scene.calls(OWN)


async def test_a_contact_that_cannot_be_read_is_deleted(scene: Scene) -> None:
    """Also if the phone has a record without a contact."""
    unreadable = Contact("1001", "", True, contact_id("1001", ""), "1001")
    scene.addresses.on_listed([AddressRecord("1001~", (), is_fixed=True)], [unreadable])
    await scene.deletes("")


async def test_a_phone_whose_record_was_not_written_stays(scene: Scene) -> None:
    """The node stopped before that: its login was heard, and is not repeated."""
    scene.addresses.on_login("1001", FROM)
    scene.status(OWN)
    for _ in range(2):  # the second connection ends before its list
        scene.addresses.on_unwatched()
    own = Contact("1001", OWN, True, contact_id("1001", OWN), "1001")
    other = Contact("1001", CARRIER, True, contact_id("1001", CARRIER), "1001")
    scene.addresses.on_listed([], [own, other])
    await scene.deletes(CARRIER)
    await scene.calls(OWN)


class BusyPbx(ObjectPbx):
    """Lists nothing over a new connection while it deletes a record."""

    addresses: PhoneAddresses

    async def ask(self, request: Request) -> Reply:
        reply = await super().ask(request)
        if request.method == "DELETE":
            self.addresses.on_listed([], [])
        return reply


async def test_a_list_that_comes_while_a_record_is_deleted() -> None:
    """It replaces what was known, and the writer goes on."""
    pbx, clock = BusyPbx(), ManualClock()
    pbx.addresses = PhoneAddresses("pbx1", pbx, lambda _: False, clock.now_ms, 0.001)
    pbx.objects[RECORD] = {"contact": OWN}
    task = asyncio.get_running_loop().create_task(pbx.addresses.run())
    pbx.addresses.on_listed([AddressRecord("1001~", (OWN,), is_fixed=True)], [])
    await until(lambda: RECORD not in pbx.objects, what="the deletion")
    pbx.addresses.on_login("1001", FROM)
    pbx.addresses.on_contact(Contact("1001", OWN, True, contact_id("1001", OWN), "1001"), 0)
    await until(lambda: RECORD in pbx.objects, what="the record")
    await cancel_all([task])


async def test_a_tab_that_comes_back_before_the_list_stays(scene: Scene) -> None:
    """It is at a proxy of tabs, where no carrier is; without one it is deleted."""
    tab = "sip:x@192.0.2.9:4000;transport=ws"
    elsewhere = "sip:x@198.51.100.9:5060;transport=ws"
    scene.addresses.on_login("1002", "IPV4/WS/192.0.2.9/3999")
    scene.addresses.on_unwatched()
    found = [Contact("1001", e, True, contact_id("1001", e), "1001") for e in (tab, elsewhere)]
    scene.addresses.on_listed([], found)
    await scene.deletes(elsewhere)


async def test_what_was_registered_while_nothing_listened(scene: Scene) -> None:
    """It is deleted, unless the phone was called there before; the node keeps its records."""
    known = Contact("1001", OWN, True, contact_id("1001", OWN), "1001")
    new = Contact("1001", CARRIER, True, contact_id("1001", CARRIER), "1001")
    gone = AddressRecord("1002~", ("sip:1002@192.0.2.2:5060",), is_fixed=True)
    scene.pbx.objects |= {RECORD: {"contact": OWN}, "aor/1002~": {"contact": gone.uris[0]}}
    scene.addresses.on_unwatched()
    scene.status(OWN)  # its reachability, before the list
    scene.addresses.on_listed([AddressRecord("1001~", (OWN,), is_fixed=True), gone], [known, new])
    await scene.deletes(CARRIER)
    await until(lambda: "aor/1002~" not in scene.pbx.objects, what="the record to go")
    assert scene.called == OWN
    scene.addresses.on_unwatched()
    await asyncio.sleep(0)
    assert scene.called == OWN


async def test_a_phone_with_an_address_in_pjsip_conf(scene: Scene) -> None:
    """The operator has chosen it. The trunk is no phone."""
    fixed = AddressRecord("door", ("sip:door@198.51.100.3:5060",), is_fixed=True)
    trunk = AddressRecord("trunk", (CARRIER,), is_fixed=True)
    scene.addresses.on_listed([fixed, trunk], [])
    scene.status(CARRIER, name="trunk")
    await until(lambda: "aor/door~" in scene.pbx.objects, what="the record")
    scene.status(fixed.uris[0], name="door", is_reachable=False)
    await until(lambda: "aor/door~" not in scene.pbx.objects, what="the record to go")
    assert "aor/trunk~" not in scene.pbx.objects


async def test_a_node_that_fails_gets_the_record_later(scene: Scene) -> None:
    """A record is made again as a whole: a change would add to it."""
    scene.logs_in(OWN)
    await scene.calls(OWN)
    scene.pbx.fail_after(1)
    moved = "sip:1001@192.0.2.8:6000"
    scene.logs_in(moved, at="IPV4/UDP/192.0.2.8/6000")
    await until(lambda: scene.pbx.request_count > 3, what="more tries")
    scene.pbx.recover()
    await scene.calls(moved)
