"""Receives health and DTMF events from a PBX's manager interface.

Over two connections, as SIP text may forge any event of those that contain some (docs/asterisk.md).
One gets no event with such text: it is believed. What the other says of a contact is a reason to
ask for the endpoint's contacts. A connection is used once.
"""

import asyncio
from collections.abc import Sequence
from ssl import SSLContext

import structlog

from base.tasks import wait_for_event
from engine.ami.changed_endpoints import Change, ChangedEndpoints
from engine.ami.contacts import (
    AddressRecord,
    Contact,
    KnownContacts,
    is_name,
    read_address_record,
    read_contacts,
    read_listed_contact,
)
from engine.ami.events import (
    DtmfListener,
    HealthListener,
    PhoneListener,
    changed_endpoint,
    is_phone_login,
    take_dtmf,
    take_failed_login,
    take_rtcp,
)
from engine.ami.messages import Message
from engine.ami.session import AmiError, AmiSession, open_session

log = structlog.get_logger()
CONNECT_TIMEOUT_S = 5.0
RETRY_DELAY_S = 2.0
REFUSED_RETRY_DELAY_S = 30.0
POLL_INTERVAL_S = 10.0  # between status requests: a dead peer is noticed within two of these
HEALTH_EVENTS = "system,reporting,security"
DTMF_EVENTS = "dtmf"
NO_CONTACTS = "No Contacts found"  # an error of Asterisk's
# The PBX compares an event's name, not its text.
TRUSTED_EVENTS = (
    ("action(include),name(SuccessfulAuth),header(Service),method(exact)", "PJSIP"),
    ("action(include),name(Shutdown)", ""),
    ("action(include),name(Registry)", ""),
)


class TrustedEvents:
    """Reports the events that no SIP text is in."""

    def __init__(
        self, health: HealthListener, phones: PhoneListener | None, contacts: KnownContacts
    ) -> None:
        self._health = health
        self._phones = phones
        self._contacts = contacts
        self.is_leaving = False
        self.returned: dict[str, None] = {}  # phones to qualify
        self.logged_in: set[str] = set()  # endpoints, as long as the connection lasts

    def on_event(self, event: Message) -> None:
        if event.event == "Shutdown":
            self.is_leaving = True  # it counts once the connection ends, which is what follows
        elif event.event == "Registry":
            self._health.on_registration(event["Username"], event["Status"] == "Registered")
        elif is_phone_login(event):
            self._on_login(event["AccountID"], event["RemoteAddress"])

    def _on_login(self, endpoint: str, address: str) -> None:
        self._health.on_login(endpoint)
        self.logged_in.add(endpoint)
        if self._phones is not None:
            self._phones.on_login(endpoint, address)
        if self._contacts.is_away(endpoint):
            self.returned[endpoint] = None


class Watch:
    """Both connections to one node, from their login until one of them ends."""

    def __init__(
        self,
        health: HealthListener | None,
        dtmf: DtmfListener | None,
        phones: PhoneListener | None,
    ) -> None:
        self._health = health
        self._dtmf = dtmf
        self._phones = phones
        self._wake = asyncio.Event()
        self._contacts = KnownContacts()
        self._clock = asyncio.get_running_loop().time
        self._changed = ChangedEndpoints(self._is_known, self._clock)
        self._open = AmiSession(self._on_open_event, self._wake.set, self._take)
        self._trusted_events: TrustedEvents | None = None
        self._trusted: AmiSession | None = None
        if health is not None:
            self._trusted_events = TrustedEvents(health, phones, self._contacts)
            self._trusted = AmiSession(self._on_trusted_event, self._wake.set)

    @property
    def events(self) -> str:
        wanted = (self._health and HEALTH_EVENTS, self._dtmf and DTMF_EVENTS)
        return ",".join(each for each in wanted if each)

    @property
    def is_lost(self) -> bool:
        return self._open.is_lost or (self._trusted is not None and self._trusted.is_lost)

    async def log_in(
        self, address: tuple[str, int], login: tuple[str, str], tls: SSLContext | None
    ) -> None:
        """Connect and log in; raises OSError, TimeoutError, and PermissionError if refused."""
        try:
            if self._trusted is not None:
                await open_session(address, self._trusted, tls)
                await _log_in(self._trusted, login, "off")
                for criteria, value in TRUSTED_EVENTS:
                    fields = {"Operation": "Add", "MatchCriteria": criteria, "Filter": value}
                    await self._trusted.ask("Filter", fields)
                await self._trusted.ask("Events", {"EventMask": HEALTH_EVENTS})
            await open_session(address, self._open, tls)
            await _log_in(self._open, login, self.events)
        except AmiError as error:
            raise PermissionError(f"manager user, password or filter refused: {error}") from error

    async def load(self) -> None:
        """Load the address records and contacts, which only a node that has booted lists."""
        if self._health is None:
            return
        found = [each for each in await self._open.ask_list("PJSIPShowAors")
                 if each.event == "AorList"]  # fmt: skip
        records = [read_address_record(each) for each in found]
        listed = map(read_listed_contact, await self._list_contacts())
        contacts = [each for each in listed if each is not None]
        await self._hear_logins()
        self._load(records, contacts)
        self._health.on_booted()

    async def _list_contacts(self) -> Sequence[Message]:
        try:
            return await self._open.ask_list("PJSIPShowContacts")
        except AmiError as error:
            if str(error) != NO_CONTACTS:
                raise
            return []

    def _load(self, records: Sequence[AddressRecord], contacts: Sequence[Contact]) -> None:
        for endpoint in {each.endpoint: None for each in contacts}:
            own = [each for each in contacts if each.endpoint == endpoint]
            self._report(endpoint, own)
        # the contacts of trunks are in no list
        for each in records:
            if each.is_fixed and is_name(each.name):
                self._changed.add(each.name)
        if self._phones is not None:
            self._phones.on_listed(records, contacts)
        self._wake.set()

    async def run(self) -> None:
        """Report what happens until a connection ends; raises OSError."""
        poll_s = 0.0
        while not self.is_lost:
            if self._clock() >= poll_s:
                await self._poll()
                poll_s = self._clock() + POLL_INTERVAL_S
            wait_s = min(poll_s - self._clock(), self._changed.wait_s)
            await wait_for_event(self._wake, wait_s)
            self._wake.clear()
            await self._qualify_returned()
            await self._ask_about_changes()
        raise ConnectionResetError("the connection ended")

    def close(self) -> None:
        """End the connections; a shutdown that was announced has happened."""
        is_leaving = self._trusted_events is not None and self._trusted_events.is_leaving
        if self._health is not None and is_leaving and self.is_lost:
            self._health.on_shutdown()
        for session in (self._open, self._trusted):
            if session is not None:
                session.close()

    def _on_trusted_event(self, event: Message) -> None:
        if self._trusted_events is not None:
            self._trusted_events.on_event(event)
            if self._trusted_events.returned:
                self._wake.set()

    def _on_open_event(self, event: Message) -> None:
        if self._health is not None and (endpoint := changed_endpoint(event)):
            self._changed.add(endpoint)
            self._wake.set()

    def _take(self, data: bytes) -> bool:
        """Take the most frequent events."""
        if self._dtmf is not None and take_dtmf(data, self._dtmf):
            return True
        if self._health is None:
            return False
        return take_rtcp(data, self._health) or take_failed_login(data, self._health)

    async def _poll(self) -> None:
        status = await (self._trusted or self._open).ask("CoreStatus")
        if self._trusted_events is not None:
            self._trusted_events.is_leaving = False  # it still answers
        if self._health is not None and status["CoreCurrentCalls"].isdecimal():
            self._health.on_call_count(int(status["CoreCurrentCalls"]))

    def _is_known(self, endpoint: str) -> bool:
        logged_in = () if self._trusted_events is None else self._trusted_events.logged_in
        return endpoint in logged_in or self._contacts.has(endpoint)

    async def _qualify_returned(self) -> None:
        if self._trusted_events is None:
            return
        returned, self._trusted_events.returned = self._trusted_events.returned, {}
        for endpoint in returned:
            await _ask_leniently(self._open, "PJSIPQualify", endpoint)

    async def _ask_about_changes(self) -> None:
        if self._changed.is_due:
            await self._hear_logins()
            self._changed.enqueue()
        changes = self._changed.take()
        if not changes:
            return
        answers = await asyncio.gather(
            *(_ask_leniently(self._open, "PJSIPShowEndpoint", each) for each, _ in changes)
        )
        await self._hear_logins()
        for change, lines in zip(changes, answers, strict=True):
            self._report_answer(change, lines)

    async def _hear_logins(self) -> None:
        """Wait for all logins that preceded a contact which the other connection has shown."""
        if self._trusted is not None:
            await self._trusted.ask("Ping")

    def _report_answer(self, change: Change, lines: Sequence[Message]) -> None:
        endpoint, heard_s = change
        waited_ms = round((self._clock() - heard_s) * 1000)
        for contact in self._report(endpoint, read_contacts(endpoint, lines)):
            if self._phones is not None:
                self._phones.on_contact(contact, waited_ms)

    def _report(self, endpoint: str, contacts: Sequence[Contact]) -> Sequence[Contact]:
        changed = self._contacts.update(endpoint, contacts)
        if self._health is not None:
            for contact in (each for each in changed if each.uri):
                self._health.on_contact(contact.endpoint, contact.uri, contact.is_reachable)
        return changed


async def _log_in(session: AmiSession, login: tuple[str, str], events: str) -> None:
    user, secret = login
    await session.ask("Login", {"Username": user, "Secret": secret, "Events": events})


async def _ask_leniently(session: AmiSession, action: str, endpoint: str) -> Sequence[Message]:
    """Ask about an endpoint, which may not be there: an event has named it."""
    try:
        if action == "PJSIPQualify":
            return [await session.ask(action, {"Endpoint": endpoint})]
        return await session.ask_list(action, {"Endpoint": endpoint})
    except AmiError:
        return []


class AmiMonitor:
    """Monitors one node; reports to its listeners, and receives only what they take."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        node: str,
        address: tuple[str, int],
        login: tuple[str, str],
        health: HealthListener | None,
        dtmf: DtmfListener | None,
        phones: PhoneListener | None = None,
        retry_delay_s: float = RETRY_DELAY_S,
        tls: SSLContext | None = None,
    ) -> None:
        self._address = address
        self._tls = tls
        self._login = login
        self._health = health
        self._dtmf = dtmf
        self._phones = phones
        self._retry_delay_s = retry_delay_s
        self._is_logged = False
        self._log = log.bind(node=node)

    async def run(self) -> None:
        """Monitor until cancelled, always reconnecting."""
        while True:
            delay_s = self._retry_delay_s
            try:
                await self._listen()
            except PermissionError as error:
                self._log_once(str(error))
                delay_s = REFUSED_RETRY_DELAY_S
            except (AmiError, OSError, TimeoutError) as error:
                self._log_once(str(error) or type(error).__name__)
            finally:
                self._on_disconnected()
            await asyncio.sleep(delay_s)

    def _on_disconnected(self) -> None:
        if self._health is not None:
            self._health.on_unwatched()
        if self._phones is not None:
            self._phones.on_unwatched()
        if self._dtmf is not None:
            self._dtmf.on_disconnected()

    async def _listen(self) -> None:
        watch = Watch(self._health, self._dtmf, self._phones)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await watch.log_in(self._address, self._login, self._tls)
            self._log.info("node monitored", events=watch.events)
            self._is_logged = False
            if self._dtmf is not None:
                self._dtmf.on_connected()
            await watch.load()
            await watch.run()
        finally:
            watch.close()

    def _log_once(self, error: str) -> None:
        if not self._is_logged:
            self._is_logged = True
            self._log.warning("node not monitored", error=error)
