"""The addresses at which one node may call its phones: those that they have logged in from.

A phone chooses the contacts that it registers; Asterisk replaces only the first of a REGISTER by
where the phone is, and `via_addr` of a contact is what the phone says, too (docs/asterisk.md). So
calls go to an address record of the engine's beside the phone's, `PJSIP/1001/1001~`, to which no
phone can register: it has the contact whose host and port were those of a login. Each tab of a
browser has a record of its own. Other contacts are deleted at once. The node keeps these records,
so any engine, and its dialplan, can call by them.
"""

import asyncio
import ipaddress
import re
from collections import deque
from collections.abc import Callable, Sequence

import structlog

from engine.ami.contacts import (
    Address,
    AddressRecord,
    Contact,
    address_of_contact,
    contact_id,
    remote_address,
)
from engine.ari.generated.operations import asterisk
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.snapshot import PbxUnavailable
from wire.agents import TECHNOLOGY, phone_name

log = structlog.get_logger()
SUFFIX = "~"  # of the engine's records; no endpoint contains it
LOGIN_MS = 10_000  # in which a login's contact arrives
MAX_LOGINS = 16  # of one endpoint at once: an agent's tabs
RETRY_DELAY_S = 1.0
_CLASS = "res_pjsip"
_WEBSOCKET = ";transport=ws"  # a tab, of which an agent may have several
_BAD_REQUEST = 400
_NOT_FOUND = 404
_LOGIN_OF_TAB = re.compile("IPV[46]/WSS?/")
Host = ipaddress.IPv4Address | ipaddress.IPv6Address
_UNSURE = "?"  # a record that is being written; no contact is this


def called_at(endpoint: str) -> str:
    """Return what is dialled to call an endpoint at its addresses."""
    return f"{endpoint}/{phone_name(endpoint)}{SUFFIX}"


class PhoneAddresses:
    """Keeps a node's records as its manager interface reports logins and contacts."""

    def __init__(
        self,
        node: str,
        pbx: Pbx,
        is_trunk: Callable[[str], bool],
        now_ms: Callable[[], int],
        retry_delay_s: float = RETRY_DELAY_S,
    ) -> None:
        self._pbx = pbx
        self._is_trunk = is_trunk
        self._now_ms = now_ms
        self._retry_delay_s = retry_delay_s
        self._logins: dict[str, deque[tuple[int, Address]]] = {}
        self._proxies: set[Host] = set()  # from which tabs have logged in
        self._phones: dict[str, dict[str, bool]] = {}  # whether each contact is reachable; in order
        self._accepted: dict[str, dict[str, bool]] = {}  # before the connection was lost
        self._fixed: dict[str, tuple[str, ...]] = {}  # of records in pjsip.conf
        self._records: dict[str, dict[str, str]] = {}  # a phone's, by name, as far as it is known
        self._changed: dict[str, None] = {}  # records to compare
        self._strange: dict[str, None] = {}  # ids of contacts to delete
        self._is_listed = False  # before that, what is registered is not known
        self._wake = asyncio.Event()
        self._log = log.bind(node=node)

    def on_login(self, endpoint: str, address: str) -> None:
        """Take where a phone has logged in from: `IPV4/UDP/192.0.2.1/5060`."""
        found = remote_address(address)
        if found is not None:
            logins = self._logins.setdefault(endpoint, deque(maxlen=MAX_LOGINS))
            logins.append((self._now_ms(), found))
            if _LOGIN_OF_TAB.match(address):
                self._proxies.add(found[0])

    def on_contact(self, contact: Contact, waited_ms: int) -> None:
        """Accept or refuse a contact that is new, has another status, or has been removed.

        An event has named its endpoint `waited_ms` ago.
        """
        record, uri = contact.record, contact.uri
        if not record or self._is_ours(record):
            return
        known = self._phones.setdefault(record, {})
        if contact.is_reachable is None:
            known.pop(uri, None)
        elif uri in known or uri in self._fixed.get(record, ()):
            known[uri] = contact.is_reachable
        elif self._has_logged_in(record, uri, waited_ms):
            self._replace(record, uri)
            known[uri] = contact.is_reachable
        elif self._is_listed:
            self._refuse(contact)
        self._change(record)

    def on_listed(self, records: Sequence[AddressRecord], contacts: Sequence[Contact]) -> None:
        """Take all that the node has: what was registered while nothing listened is refused."""
        self._records = {}
        for each in records:
            phone, is_own, _ = each.name.partition(SUFFIX)
            if is_own:
                self._records.setdefault(phone, {})[each.name] = "".join(each.uris)
        self._fixed = {
            each.name: each.uris for each in records
            if each.is_fixed and each.uris and not self._is_ours(each.name)
        }  # fmt: skip
        for name, uris in self._fixed.items():
            self._phones.setdefault(name, dict.fromkeys(uris, True))
        for contact in contacts:
            if contact.is_reachable is None or self._is_ours(contact.record):
                continue
            known = self._phones.setdefault(contact.record, {})
            if contact.uri in known or self._may_stay(contact.record, contact.uri):
                known[contact.uri] = contact.is_reachable
            else:
                self._refuse(contact)
        self._is_listed, self._accepted = True, {}
        for name in (*self._records, *self._phones):
            self._change(name)

    def on_unwatched(self) -> None:
        """Forget the contacts: the next list has them, and the records stay until then."""
        self._is_listed = False
        self._accepted |= self._phones  # a record may not have been written yet
        self._logins, self._phones, self._changed = {}, {}, {}

    async def run(self) -> None:
        """Write the records, and delete what was refused, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._write()
            except PbxUnavailable as error:
                self._log.warning("phone addresses not written", error=str(error))
                await asyncio.sleep(self._retry_delay_s)
                self._wake.set()

    async def _write(self) -> None:
        while self._strange or self._changed:
            while self._strange:
                contact = next(iter(self._strange))
                await self._delete("contact", contact)
                self._strange.pop(contact, None)
            if self._changed:
                record = next(iter(self._changed))
                del self._changed[record]
                try:
                    await self._write_records(record)
                except PbxUnavailable:
                    self._changed[record] = None
                    raise

    async def _write_records(self, phone: str) -> None:
        wanted, known = self._wanted(phone), self._records.setdefault(phone, {})
        for name in list(known):
            if wanted.get(name) != known[name]:  # a change would merge both (docs/asterisk.md)
                await self._delete("aor", name)
                del known[name]
        for name, uri in wanted.items():
            if name not in known:
                known[name] = _UNSURE
                if await self._put(name, uri):
                    known[name] = uri
                else:
                    del known[name]
        if not known and self._records.get(phone) is known:  # no list has come meanwhile
            del self._records[phone]

    async def _put(self, name: str, uri: str) -> bool:
        """Put a record; returns False if the node takes no such contact."""
        fields = [{"attribute": "contact", "value": uri}]
        reply = await self._pbx.ask(asterisk.update_object(_CLASS, "aor", name, fields=fields))
        if not reply.ok and reply.status != _BAD_REQUEST:
            raise PbxUnavailable(f"aor {name}: status {reply.status}")
        return reply.ok

    def _wanted(self, phone: str) -> dict[str, str]:
        """Return a phone's records: one of each tab of a browser, or that of the latest phone."""
        reachable = [uri for uri, is_up in self._phones.get(phone, {}).items() if is_up]
        if reachable and all(map(_is_tab, reachable)):
            return {contact_id(phone, uri).replace(";@", SUFFIX): uri for uri in reachable}
        return {phone + SUFFIX: reachable[-1]} if reachable else {}

    def _is_ours(self, record: str) -> bool:
        return SUFFIX in record or self._is_trunk(f"{TECHNOLOGY}/{record}")

    def _has_logged_in(self, record: str, uri: str, waited_ms: int = 0) -> bool:
        """Return whether a phone had just logged in from the address of a contact."""
        address, since_ms = address_of_contact(uri), self._now_ms() - waited_ms - LOGIN_MS
        logins = self._logins.get(record, ())
        return any(at_ms >= since_ms and each == address for at_ms, each in logins)

    def _may_stay(self, record: str, uri: str) -> bool:
        """Return whether a contact that the node lists is one of a login.

        Tabs log in as soon as a node is there again, perhaps before their logins are heard. They
        come from proxies, where no carrier is.
        """
        address = address_of_contact(uri)
        if address is None:
            return False
        called = self._records.get(record, {}).values()
        if uri in called or uri in self._accepted.get(record, ()):
            return True
        is_proxied = _is_tab(uri) and address[0] in self._proxies
        return is_proxied or self._has_logged_in(record, uri)

    def _replace(self, record: str, uri: str) -> None:
        """Let one login have one contact: those before it, of tabs those at its address, go."""
        known, address = self._phones[record], address_of_contact(uri)
        for other in list(known):
            if not _is_tab(uri) or address_of_contact(other) == address:
                del known[other]
                self._strange[contact_id(record, other)] = None
        self._strange.pop(contact_id(record, uri), None)

    def _refuse(self, contact: Contact) -> None:
        self._log.warning("contact of no login deleted", phone=contact.record, uri=contact.uri)
        self._strange[contact.id] = None

    def _change(self, record: str) -> None:
        self._changed[record] = None
        if self._is_listed:
            self._wake.set()

    async def _delete(self, kind: str, name: str) -> None:
        reply = await self._pbx.ask(asterisk.delete_object(_CLASS, kind, name))
        if not (reply.ok or reply.status == _NOT_FOUND):
            raise PbxUnavailable(f"delete of {kind} {name}: status {reply.status}")


def _is_tab(uri: str) -> bool:
    return _WEBSOCKET in uri.lower()
