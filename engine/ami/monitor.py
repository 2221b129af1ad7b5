"""Receives health and DTMF events from a PBX's manager interface.

panoramisk parses the stream. Its manager class is not used: it repeats unanswered actions after a
reconnect, and reconnects silently when the password is refused. Here a connection is used once.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from ssl import SSLContext
from typing import Protocol

import structlog
from panoramisk.ami_protocol import AMIProtocol
from panoramisk.message import Message

from engine.ami import contacts
from engine.ami.contacts import (
    AddressRecord,
    Contact,
    UnreachableContacts,
    read_address_record,
    read_contact,
)
from engine.common.tasks import wait_for_event

log = structlog.get_logger()
RTP_CLOCK_HZ = 8_000  # unit of the reported jitter
CONNECT_TIMEOUT_S = 5.0
RETRY_DELAY_S = 2.0
REFUSED_RETRY_DELAY_S = 30.0
POLL_INTERVAL_S = 10.0  # between status requests: a dead peer is noticed within two of these
HEALTH_EVENTS = "system,reporting,security"
DTMF_EVENTS = "dtmf"
END_OF_MESSAGE = b"\r\n\r\n"
DTMF = b"Event: DTMF"
DTMF_BEGIN = b"Event: DTMFBegin"
FAILED_LOGINS = (
    b"Event: ChallengeResponseFailed",
    b"Event: InvalidPassword",
    b"Event: InvalidAccountID",
    b"Event: FailedACL",
)
RTCP = (b"Event: RTCPReceived", b"Event: RTCPSent")  # quality of the sent and the received audio


class HealthListener(Protocol):
    """Receives health events; implemented by `NodeHealth`."""

    def on_booted(self) -> None:
        """Handle that the node is ready."""

    def on_shutdown(self) -> None:
        """Handle that the node shuts down."""

    def on_unwatched(self) -> None:
        """Handle that the connection is lost: the health is unknown."""

    def on_call_count(self, calls: int) -> None:
        """Handle the number of calls that the node counts."""

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Handle the status of an endpoint's contact; None: it was removed."""

    def on_login(self, endpoint: str) -> None:
        """Handle that a phone has logged in, with a REGISTER or a call."""

    def on_failed_login(self, service: str) -> None:
        """Handle a login that was refused, by `sip` or `ami`: perhaps a guess."""

    def on_registration(self, client: str, is_registered: bool) -> None:
        """Handle the node's own registration, as at a carrier."""

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Handle an RTCP report of a leg."""


class PhoneListener(Protocol):
    """Receives what phones do; implemented by `runtime.agents.phone_addresses`."""

    def on_login(self, endpoint: str, address: str) -> None:
        """Handle that a phone has logged in from an address: `IPV4/UDP/192.0.2.1/5060`."""

    def on_contact(self, contact: Contact) -> None:
        """Handle the status of a contact, which is new perhaps."""

    def on_listed(self, records: Sequence[AddressRecord], contacts: Sequence[Contact]) -> None:
        """Handle all that the node has, once after the connection is made."""

    def on_unwatched(self) -> None:
        """Handle that the connection is lost."""


def dispatch_health(event: Message, listener: HealthListener) -> None:
    """Report a health event to a listener; ignore other events."""
    match event.event:
        case "FullyBooted":
            listener.on_booted()
        case "Shutdown":
            listener.on_shutdown()
        case "ContactStatus" | "ContactList":
            contact = read_contact(event)
            listener.on_contact(contact.endpoint, contact.uri, contact.is_reachable)
        case "SuccessfulAuth" if event.Service == "PJSIP":
            listener.on_login(event.AccountID)
        case "Registry":
            listener.on_registration(event.Username, event.Status == "Registered")
        case _:
            pass


def dispatch_phone(event: Message, listener: PhoneListener) -> None:
    """Report a phone's login or contact to a listener; ignore other events."""
    match event.event:
        case "ContactStatus":
            listener.on_contact(read_contact(event))
        case "SuccessfulAuth" if event.Service == "PJSIP":
            listener.on_login(event.AccountID, event.RemoteAddress)
        case _:
            pass


def dispatch_rtcp(event: bytes, listener: HealthListener) -> None:
    """Report the quality of a leg's audio; ignore an RTCP event without a report block."""
    try:
        loss = int(_header(event, b"Report0FractionLost"))
        jitter = int(_header(event, b"Report0IAJitter"))
    except ValueError:
        return  # no audio was received
    listener.on_rtp_report(loss / 256, jitter * 1000 / RTP_CLOCK_HZ)


def dispatch_failed_login(event: bytes, listener: HealthListener) -> None:
    """Report a refused login. Whoever guesses sends many: nothing else of the event is read."""
    listener.on_failed_login("sip" if b"\r\nService: PJSIP\r\n" in event else "ami")


class DtmfListener(Protocol):
    """Receives DTMF; implemented by `runtime.pbx_nodes.recent_digits`."""

    def on_connected(self) -> None:
        """Handle that all digits are reported from now on."""

    def on_digit_started(self, channel: str, pbx_ms: int) -> None:
        """Handle that a key went down, with its time by the PBX's clock."""

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Handle the end of a digit, with its time by the PBX's clock."""

    def on_disconnected(self) -> None:
        """Handle a lost connection: the engine misses the ends of digits."""


def dispatch_dtmf(event: bytes, listener: DtmfListener) -> None:
    """Report a digit that a phone has sent; ignore digits sent to a phone.

    Needs `timestampevents = yes` in manager.conf to distinguish repeated digits.
    """
    if _header(event, b"Direction") != "Received":
        return
    channel = _header(event, b"Uniqueid")
    try:
        pbx_ms = round(float(_header(event, b"Timestamp")) * 1000)
        if event.startswith(DTMF_BEGIN):
            listener.on_digit_started(channel, pbx_ms)
        else:
            held_ms = int(_header(event, b"DurationMs"))
            listener.on_digit(channel, _header(event, b"Digit"), held_ms, pbx_ms)
    except ValueError:
        return


def _header(event: bytes, name: bytes) -> str:
    """Return a header of an event, except the first; empty if it is absent."""
    return event.partition(b"\r\n%b: " % name)[2].partition(b"\r\n")[0].decode()


class AmiConnection:
    """The factory that panoramisk's protocol expects, for one connection."""

    forgetable_actions = (
        "login", "corestatus", "pjsipshowaors", "pjsipshowcontacts", "pjsipqualify",
    )  # fmt: skip

    def __init__(self, health: HealthListener | None, phones: PhoneListener | None = None) -> None:
        self.ended = asyncio.Event()
        self.awaiting_actions: deque[object] = deque()
        self.health = health
        self.phones = phones
        self.stream: AmiStream | None = None
        self._unreachable = UnreachableContacts()

    def dispatch(self, event: Message) -> None:
        if self.health is None:
            return
        dispatch_health(event, self.health)
        if self.phones is not None:
            dispatch_phone(event, self.phones)
        if event.event in contacts.EVENTS:
            self._unreachable.on_contact(read_contact(event))
        elif self.stream is not None and self._unreachable.has_returned(event):
            self.stream.send({"Action": "PJSIPQualify", "Endpoint": event.AccountID})

    def connection_lost(self, _reason: object) -> None:
        self.ended.set()


class AmiStream(AMIProtocol):  # type: ignore[misc]  # panoramisk has no types
    """panoramisk's protocol with its factory set on connection.

    DTMF and RTCP events, and refused logins, are the most frequent: they are parsed here, which
    takes a seventh of the time.
    """

    def __init__(self, connection: AmiConnection, dtmf: DtmfListener | None) -> None:
        self._connection = connection
        self._dtmf = dtmf
        self._partial = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.factory = self._connection
        self._connection.stream = self
        self.encoding = "utf-8"

    def data_received(self, data: bytes) -> None:
        """Split the stream into messages; each begins with its type."""
        *messages, self._partial = (self._partial + data).split(END_OF_MESSAGE)
        dtmf, health = self._dtmf, self._connection.health
        for message in messages:
            if dtmf is not None and message.startswith(DTMF):
                dispatch_dtmf(message, dtmf)
            elif health is not None and message.startswith(RTCP):
                dispatch_rtcp(message, health)
            elif health is not None and message.startswith(FAILED_LOGINS):
                dispatch_failed_login(message, health)
            else:
                super().data_received(message + END_OF_MESSAGE)


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
        wanted = (health and HEALTH_EVENTS, dtmf and DTMF_EVENTS)
        self._events = ",".join(each for each in wanted if each)
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
            except (OSError, TimeoutError) as error:
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
        connection = AmiConnection(self._health, self._phones)
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            stream = await self._connect(connection)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._log_in(stream)
            self._log.info("node monitored", events=self._events)
            self._is_logged = False
            if self._dtmf is not None:
                self._dtmf.on_connected()
            if self._health is not None:
                await self._load_contacts(stream, connection)
            await self._poll_until_lost(stream, connection)
        finally:
            stream.close()

    async def _connect(self, connection: AmiConnection) -> AmiStream:
        host, port = self._address
        loop = asyncio.get_running_loop()
        _, stream = await loop.create_connection(
            lambda: AmiStream(connection, self._dtmf), host, port, ssl=self._tls
        )
        return stream

    async def _log_in(self, stream: AmiStream) -> None:
        user, secret = self._login
        answer = await stream.send(
            {"Action": "Login", "Username": user, "Secret": secret, "Events": self._events}
        )
        if not answer.success:
            raise PermissionError("manager user or password refused")

    async def _load_contacts(self, stream: AmiStream, connection: AmiConnection) -> None:
        """Load the status of all contacts; changes arrive as events."""
        records = await self._list(stream, "PJSIPShowAors") if self._phones is not None else []
        listed = await self._list(stream, "PJSIPShowContacts")
        for each in listed:
            connection.dispatch(each)
        if self._phones is not None:
            self._phones.on_listed(
                [read_address_record(each) for each in records if each.event == "AorList"],
                [read_contact(each) for each in listed if each.event == "ContactList"],
            )

    async def _list(self, stream: AmiStream, action: str) -> list[Message]:
        async with asyncio.timeout(POLL_INTERVAL_S):
            listed = await stream.send({"Action": action})
        return listed if isinstance(listed, list) else []

    async def _poll_until_lost(self, stream: AmiStream, connection: AmiConnection) -> None:
        while not connection.ended.is_set():
            async with asyncio.timeout(POLL_INTERVAL_S):
                status = await stream.send({"Action": "CoreStatus"})
            if self._health is not None and status.CoreCurrentCalls.isdigit():
                self._health.on_call_count(int(status.CoreCurrentCalls))
            await wait_for_event(connection.ended, POLL_INTERVAL_S)
        raise ConnectionResetError("the connection ended")

    def _log_once(self, error: str) -> None:
        if not self._is_logged:
            self._is_logged = True
            self._log.warning("node not monitored", error=error)
