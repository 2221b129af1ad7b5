"""Calls a number of the lab as a stranger would: rings, presses keys, listens until the end."""

import asyncio
import errno
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from dev.errors import CallFailed
from dev.phone.message import (
    Message,
    hangup_cause,
    media_address,
    parse,
    rejection,
    response,
    sdp,
)
from dev.phone.rtp import EVENTS_TYPE, Audio

PAUSES_S = {"w": 0.5, "W": 1.0}  # in the place of a key
SOUND = "p"  # in the place of a key: the sound is played there


class Pressed(NamedTuple):
    """Which keys are pressed, and when; `sound` is played at its place, or before them."""

    digits: str
    after_s: float
    sound: bytes = b""


def strokes(pressed: Pressed) -> Iterator[tuple[float, str]]:
    """Yield the keys, and `SOUND` where it is played, each after a pause in seconds."""
    has_place = not pressed.sound or SOUND in pressed.digits
    pause_s = 0.0
    for each in pressed.digits if has_place else SOUND + pressed.digits:
        if each in PAUSES_S:
            pause_s += PAUSES_S[each]
        else:
            yield pause_s, each
            pause_s = 0.0


# The PBX of a lab knows its trunk by these ports; so a further call at once has another one.
CALLER_PORTS = range(5381, 5400)
_OK = 200
_RINGING = (180, 183)
_FIRST_REPEAT_S = 0.5  # RFC 3261: T1, which doubles
_RESPONDS_WITHIN_S = 8
_FINAL_WITHIN_S = 1  # after a CANCEL
_NO_ANSWER = "SIP/2.0 408 No answer"
_UNKNOWN_CALL = (404, 408, 481)
_TYPE = ("Content-Type", "application/sdp")
Say = Callable[[str], None]


class Dialed(NamedTuple):
    """Who is called from which number, and where the PBX is."""

    host: str
    port: int
    number: str
    caller: str


class Patience(NamedTuple):
    """How long a call may ring, and how often the PBX has to show that it still has the call."""

    rings_within_s: float = 180  # RFC 3261: timer C
    looks_every_s: float = 5


PATIENCE = Patience()


class Outcome(NamedTuple):
    """How a call ended: the final status of its INVITE, and what was heard."""

    status: int
    text: str
    heard: bytes


class Interrupted(asyncio.CancelledError):
    """An answered call was canceled, and hung up; it has what was heard until then."""

    def __init__(self, heard: bytes) -> None:
        super().__init__()
        self.heard = heard


class _Socket(asyncio.DatagramProtocol):
    """Receives messages; None stands for a port on which nothing listens."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[Message | None] = asyncio.Queue()

    def datagram_received(self, data: bytes, _addr: object) -> None:
        if (message := parse(data)) is not None:
            self.received.put_nowait(message)

    def error_received(self, _exc: Exception) -> None:
        self.received.put_nowait(None)


async def place_call(
    dialed: Dialed, pressed: Pressed, say: Say, patience: Patience = PATIENCE
) -> Outcome:
    """Place a call and return when it has ended; raises CallFailed if nothing responds."""
    transport, received = await _open(dialed)
    audio, audio_port = await Audio.open()
    try:
        call = _Call(dialed, transport, received.received, audio, audio_port, say, patience)
        return await call.run(pressed)
    finally:
        audio.close()
        transport.close()


async def _open(dialed: Dialed) -> tuple[asyncio.DatagramTransport, _Socket]:
    """Return a socket at the first port that is free, or else at any; raises CallFailed."""
    loop = asyncio.get_running_loop()
    for port in (*CALLER_PORTS, 0):
        try:
            return await loop.create_datagram_endpoint(
                _Socket, local_addr=("127.0.0.1", port), remote_addr=(dialed.host, dialed.port)
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE and port:
                continue
            # no such host, or none of this machine
            raise CallFailed(
                f"{dialed.host} cannot be called from 127.0.0.1: {error.strerror}"
            ) from None
    raise AssertionError("port 0 is one that is free")


class _Call:
    """One call; a cancellation hangs it up."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a call consists of
        self,
        dialed: Dialed,
        udp: asyncio.DatagramTransport,
        received: "asyncio.Queue[Message | None]",
        audio: Audio,
        audio_port: int,
        say: Say,
        patience: "Patience",
    ) -> None:
        self._patience = patience
        self._dialed = dialed
        self._udp = udp
        self._received = received
        self._audio = audio
        self._description = sdp(audio_port, EVENTS_TYPE)
        self._say = say
        host, port = udp.get_extra_info("sockname")
        self._local = f"{host}:{port}"
        self._remote = f"{dialed.host}:{dialed.port}"
        self._uri = f"sip:{dialed.number}@{self._remote}"
        self._target = self._uri
        self._from = f"<sip:{dialed.caller}@{self._local}>;tag={secrets.token_hex(4)}"
        self._to = f"<{self._uri}>"
        self._call_id = secrets.token_hex(8)
        self._branch = f"z9hG4bK{secrets.token_hex(8)}"
        self._sequence = 1

    async def run(self, pressed: Pressed) -> Outcome:
        self._say(f"calling {self._dialed.number} at {self._remote}")
        invite = self._request("INVITE", self._description)
        final = await self._invite(invite)
        if final.status != _OK:
            text = rejection(final)
            self._say(f"rejected: {text}")
            return Outcome(final.status, text, bytes(self._audio.heard))
        self._say("answered")
        keys = asyncio.create_task(self._press(pressed))
        try:
            cause = await self._talk()
        except asyncio.CancelledError:
            self._hang_up()
            raise Interrupted(bytes(self._audio.heard)) from None
        finally:
            keys.cancel()
            await asyncio.wait([keys])  # it says which key was sent last
        self._say(f"hung up: {cause}")
        return Outcome(_OK, cause, bytes(self._audio.heard))

    async def _invite(self, invite: Message) -> Message:
        """Send the INVITE until something responds, and return its final response."""
        loop = asyncio.get_running_loop()
        ends_s = loop.time() + self._patience.rings_within_s
        has_response, repeats_s, waited_s = False, _FIRST_REPEAT_S, 0.0
        self._send(invite)
        while True:
            try:
                limit_s = ends_s - loop.time() if has_response else repeats_s
                async with asyncio.timeout(limit_s):
                    message = await self._received.get()
            except TimeoutError:
                if has_response:
                    await self._cancel()
                    return Message(_NO_ANSWER, ())
                waited_s += repeats_s
                repeats_s *= 2
                if waited_s > _RESPONDS_WITHIN_S:
                    raise self._unanswered() from None
                self._send(invite)
                continue
            except asyncio.CancelledError:
                await self._cancel()
                raise
            if message is None:
                raise self._unanswered()
            if not message.status or not self._owns(message):
                continue
            has_response = True
            if message.status >= _OK and message.method == "INVITE":
                return self._finished(message)
            if message.status in _RINGING:
                self._audio.speak_to(media_address(message.body))
                self._say("ringing")

    async def _cancel(self) -> None:
        """Give up ringing; an answer that has crossed the CANCEL is hung up (RFC 3261, 9.1)."""
        self._send(self._request("CANCEL"))
        with suppress(TimeoutError):
            async with asyncio.timeout(_FINAL_WITHIN_S):
                while (message := await self._received.get()) is not None:
                    if message.method == "INVITE" and message.status >= _OK and self._owns(message):
                        if self._finished(message).status == _OK:
                            self._hang_up()
                        return

    def _hang_up(self) -> None:
        self._sequence += 1
        self._send(self._request("BYE"))

    def _owns(self, message: Message) -> bool:
        return message.header("Call-ID") == self._call_id

    def _finished(self, final: Message) -> Message:
        self._to = final.header("To")
        if final.status == _OK:
            self._target = final.header("Contact").strip("<>").partition(">")[0] or self._uri
            self._audio.speak_to(media_address(final.body))
        self._acknowledge(final.status)
        return final

    async def _talk(self) -> str:
        """Respond to requests until the call is hung up, and return the cause."""
        while True:
            try:
                async with asyncio.timeout(self._patience.looks_every_s):
                    message = await self._received.get()
            except TimeoutError:
                self._sequence += 1
                self._send(self._request("OPTIONS"))
                continue
            if message is None:
                return "the PBX has ended"
            if not self._owns(message):
                continue
            if message.method == "OPTIONS" and message.status in _UNKNOWN_CALL:
                return "the PBX no longer knows the call"
            if message.status == _OK and message.method == "INVITE":
                self._acknowledge(_OK)  # ours was lost
            elif message.method in {"INVITE", "UPDATE"} and message.body:
                self._audio.speak_to(media_address(message.body))
                more = (("Contact", f"<sip:caller@{self._local}>"), _TYPE)
                self._send(response(message, "200 OK", "", more, self._description))
            elif message.method != "ACK" and not message.status:
                self._send(response(message, "200 OK", ""))
                if message.method == "BYE":
                    return hangup_cause(message)

    async def _press(self, pressed: Pressed) -> None:
        await asyncio.sleep(pressed.after_s)
        for pause_s, stroke in strokes(pressed):
            await asyncio.sleep(pause_s)
            if stroke == SOUND:
                await self._audio.play(pressed.sound)
                self._say("played the file")
                continue
            try:
                await self._audio.press(stroke)
            finally:  # its first frames may end the call
                self._say(f"sent {stroke}")

    def _acknowledge(self, status: int) -> None:
        """Send the ACK: within the INVITE's transaction for a rejection (RFC 3261, 17.1.1.3)."""
        branch = self._branch if status != _OK else f"z9hG4bK{secrets.token_hex(8)}"
        self._send(self._request("ACK", branch=branch))

    def _unanswered(self) -> CallFailed:
        return CallFailed(
            f"no phone system responds at {self._remote}: `switchroom dev status` shows what runs"
        )

    def _request(self, method: str, body: str = "", branch: str = "") -> Message:
        is_new = method in {"BYE", "OPTIONS"}
        chosen = branch or (f"z9hG4bK{secrets.token_hex(8)}" if is_new else self._branch)
        uri = self._uri if method in {"INVITE", "CANCEL"} else self._target
        headers = (
            ("Via", f"SIP/2.0/UDP {self._local};branch={chosen};rport"),
            ("From", self._from),
            ("To", self._to),
            ("Call-ID", self._call_id),
            ("CSeq", f"{self._sequence if is_new else 1} {method}"),
            ("Max-Forwards", "70"),
            ("Contact", f"<sip:caller@{self._local}>"),
            *((_TYPE,) if body else ()),
        )
        return Message(f"{method} {uri} SIP/2.0", headers, body)

    def _send(self, message: Message) -> None:
        with suppress(OSError):  # lost like a packet
            self._udp.sendto(message.encode())
