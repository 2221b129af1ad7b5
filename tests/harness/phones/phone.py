"""A phone for one call: SIPp handles SIP, this process handles RTP: a tone, digits, recording.

async with Phone.answering(port, tone_hz=600, after_ms=200) as called:
    async with Phone.calling(pbx, "+15550100", tone_hz=400) as caller:
        await caller.wait_answered()
        await caller.until_hears(600)
        presses = await caller.press("12#", gap_ms=80)
        await caller.hang_up()
    await called.wait_ended()
    caller.tones_heard(600)[0].length_ms
"""

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from dev.pbx.node import PbxNode
from tests.harness.evidence.collector import collect_phone
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.audio import Samples
from tests.harness.phones.dialog import Dialog
from tests.harness.phones.g711 import ALAW, ULAW, Codec
from tests.harness.phones.received_audio import ReceivedAudio
from tests.harness.phones.registration import register
from tests.harness.phones.rtp import REPORT_INTERVAL_S, Press, RtpLine, Spoken
from tests.harness.phones.sip import NO_SDP, SCENARIOS, SDP, ULAW_AND_EVENTS, SipCall, SipMessage
from tests.harness.ports import free_port
from tests.harness.until import MAX_WAIT_S, until

NEVER_MS = 600_000
SESSION_PROGRESS = 183


class Phone(ReceivedAudio):
    """The far end of one leg; times are monotonic milliseconds (`now_ms`)."""

    def __init__(self, sip: SipCall, line: RtpLine, scenario: str) -> None:
        self.port = sip.port
        self.name = f"{scenario}-{sip.port}"
        self.presses: list[Press] = []
        self._sip = sip
        self._line = line
        self.announces = False  # speaks before the answer
        self.dialog = Dialog(sip.messages)
        self._peer_port = 0
        sip.on_message = self._on_message

    @classmethod
    @asynccontextmanager
    async def answering(  # noqa: PLR0913 - a test names only what it varies
        cls,
        port: int,
        *,
        tone_hz: int = 0,
        after_ms: int = 1,
        rings: bool = True,
        media: str = ULAW_AND_EVENTS,
        echoes: bool = False,
        announces: bool = False,
    ) -> AsyncIterator["Phone"]:
        """Ring when called, answer after a delay; 0 Hz is silence.

        With rings=False it sends 183; one that announces speaks from then on (early media).
        """
        values = {
            "AFTER_MS": max(1, after_ms),
            "PROGRESS": "180 Ringing" if rings and not announces else "183 Session Progress",
            "PROGRESS_SDP": SDP if announces else NO_SDP,
            "MEDIA": media,
        }
        async with cls._open("answer", port, tone_hz, values, echoes=echoes) as phone:
            phone.announces = announces
            yield phone

    @classmethod
    @asynccontextmanager
    async def ringing(cls, port: int) -> AsyncIterator["Phone"]:
        """Ring when called and never answer."""
        async with cls.answering(port, after_ms=NEVER_MS) as phone:
            yield phone

    @classmethod
    @asynccontextmanager
    async def refusing(
        cls, port: int, status: int, headers: Sequence[str] = ()
    ) -> AsyncIterator["Phone"]:
        """Refuse a call with a SIP status, such as 486, 480, 403, 603 or 503."""
        values = {"STATUS": status, "HEADERS": _lines(headers)}
        async with cls._open("refuse", port, 0, values) as phone:
            yield phone

    @classmethod
    @asynccontextmanager
    async def calling(  # noqa: PLR0913 - a test names only what it varies
        cls,
        pbx: PbxNode,
        number: str,
        *,
        tone_hz: int = 0,
        caller: str = "+15550001",
        name: str = "",
        agent: str = "",
        uri: str = "",
        headers: Sequence[str] = (),
        media: str = ULAW_AND_EVENTS,
        late_sdp_ms: int = 0,
        port: int = 0,
    ) -> AsyncIterator["Phone"]:
        """Call a number, or a whole URI, from the trunk or from an agent's phone.

        With `late_sdp_ms` the SDP is in the ACK, so long after the answer. `port` is by default one
        that is free; the lab of `switchroom dev` knows its trunk by `CALLER_PORTS`.
        """
        login = f"\n[authentication username={agent} password={pbx.passwords.agents}]"
        values = {
            "CHALLENGE": (SCENARIOS / "challenge.xml").read_text() if agent else "",
            "LOGIN": login if agent else "",
            "HEADERS": _lines(headers),
            "OFFER": NO_SDP if late_sdp_ms else SDP,
            "ANSWER": SDP if late_sdp_ms else NO_SDP,
            "PAUSE": f'<pause milliseconds="{late_sdp_ms}" />' if late_sdp_ms else "",
            "MEDIA": media,
            "URI": uri or f"sip:{number}@[remote_ip]:[remote_port]",
            "NUMBER": number,
            "FROM": agent or caller,
            "NAME": f"{name} " if name else "",
        }
        remote = f"127.0.0.1:{pbx.sip_port}"
        async with cls._open("call", port or free_port(), tone_hz, values, remote) as phone:
            yield phone

    @classmethod
    @asynccontextmanager
    async def agent(  # noqa: PLR0913 - a test names only what it varies
        cls,
        pbx: Pbx,
        agent: str,
        *,
        tone_hz: int = 0,
        after_ms: int = 1,
        media: str = ULAW_AND_EVENTS,
        echoes: bool = False,
    ) -> AsyncIterator["Phone"]:
        """Register as an agent, 1001 to 1009, and answer when called."""
        port = free_port()
        await register(pbx, agent, port)
        async with cls.answering(
            port, tone_hz=tone_hz, after_ms=after_ms, media=media, echoes=echoes
        ) as phone:
            yield phone

    @classmethod
    @asynccontextmanager
    async def _open(  # noqa: PLR0913 - a test names only what it varies
        cls,
        scenario: str,
        port: int,
        tone_hz: int,
        values: Mapping[str, object],
        remote: str = "",
        *,
        echoes: bool = False,
    ) -> AsyncIterator["Phone"]:
        line = RtpLine(tone_hz, _codec(str(values.get("MEDIA", ""))), echoes=echoes)
        with tempfile.TemporaryDirectory(prefix="phone") as folder:
            sip = SipCall(Path(folder), scenario, port, remote)
            phone = cls(sip, line, scenario)
            collect_phone(phone)
            try:
                await sip.start({**values, "RTP_PORT": await line.open()})
                yield phone
            finally:
                line.close()
                await sip.close()

    @property
    def address(self) -> str:
        """Return the SIP address that `dial` takes."""
        return f"sip:phone@127.0.0.1:{self.port}"

    @property
    def messages(self) -> list[SipMessage]:
        """Return the SIP messages so far."""
        return self._sip.messages

    @property
    def status(self) -> int:
        """Return the last status of the INVITE, from either side; 0 before there is one."""
        return self.dialog.status

    @property
    def caller_id(self) -> str:
        """Return the number that a called phone shows."""
        return self.dialog.caller_id

    @property
    def is_ended(self) -> bool:
        """Return whether the call was refused, canceled or hung up."""
        return self.dialog.is_ended

    async def wait_ringing(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until the phone rings."""
        await until(lambda: self.status >= 180, timeout_s=timeout_s, what="the phone to ring")

    async def wait_answered(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until either side has answered the call."""
        await until(lambda: self.status == 200, timeout_s=timeout_s, what="an answer")

    async def wait_ended(self, timeout_s: float = MAX_WAIT_S) -> None:
        """Wait until the call has ended or was refused."""
        await until(lambda: self.is_ended, timeout_s=timeout_s, what="the call's end")

    def speak_only(self, length_ms: int) -> None:
        """Send the tone only for this long after the answer, then silence, as AMD tests need."""
        self._line.voice_ms = length_ms

    async def pick_up(self) -> None:
        """Answer as soon as the phone rings."""
        await self.wait_ringing()
        self._sip.send("OPTIONS")

    async def hold(self, direction: str = "sendonly") -> None:
        """Put the other party on hold: a re-INVITE whose media is `sendonly` or `inactive`."""
        await self._reinvite(direction)

    async def resume(self) -> None:
        """Take the other party off hold."""
        await self._reinvite("sendrecv")

    async def _reinvite(self, direction: str) -> None:
        before = len(self.dialog.answers)
        await self._wait_acknowledged()
        self._sip.send("UPDATE", f"Subject: {direction}")
        await until(lambda: len(self.dialog.answers) > before, what="the answer to a re-INVITE")

    async def refer(self, address: str, *headers: str) -> None:
        """Send REFER to an address in angle brackets."""
        await self._wait_acknowledged()
        self._sip.send("REFER", "\r\n".join((f"Refer-To: {address}", *headers)))

    async def refer_to_call(self, number: str, other: "Phone") -> None:
        """Send REFER to the other party of another call of this phone (attended transfer)."""
        await self.refer(
            f"<sip:{number}@127.0.0.1?Replaces={quote(other.dialog.replaces, safe='')}>"
        )

    async def press(self, keys: str, *, hold_ms: int = 80, gap_ms: int = 80) -> list[Press]:
        """Press keys and return the times when they went down and up."""
        before = len(self.presses)
        await self._line.press(keys, hold_ms, gap_ms, self.presses.append)
        return self.presses[before:]

    async def press_in_band(self, keys: str) -> None:
        """Press keys as tones in the audio, without telephone-event."""
        self._line.presses_in_band = True
        await self.press(keys, hold_ms=120, gap_ms=120)

    def send_reports(self) -> None:
        """Send RTCP receiver reports from now on, as a phone without sound does."""
        self._line.send_reports()

    @property
    def spoken_ms(self) -> int:
        """Return for how long the phone has sent audio."""
        return self._line.spoken_ms

    async def wait_reported(self, for_s: float) -> None:
        """Wait until the phone has sent reports for so long, or the call has ended."""
        enough = self._line.reports_sent + for_s / REPORT_INTERVAL_S
        await until(
            lambda: self.is_ended or self._line.reports_sent >= enough, what="reports to be sent"
        )

    async def wait_spoken(self, for_ms: int) -> None:
        """Wait until the phone has sent this much more audio."""
        until_ms = self.spoken_ms + for_ms
        await until(lambda: self.spoken_ms >= until_ms, what="audio to be sent")

    async def say(self, samples: Samples) -> Spoken:
        """Send speech, and wait until all of it is sent."""
        return await self._line.say(samples)

    def send_silence(self) -> None:
        """Send silence from now on."""
        self._line.send_silence()

    def stop_sending(self) -> None:
        """Send no more RTP."""
        self._line.stop_sending()

    async def hang_up(self) -> None:
        """End the call by BYE, CANCEL or 603, depending on its state, and wait for the end."""
        if not self.is_ended:
            await until(lambda: bool(self.messages), what="the first message, which names the call")
            await self._wait_acknowledged()
            self._sip.send("INFO")
            await self.wait_ended()
        await self._sip.wait_ended()

    async def _wait_acknowledged(self) -> None:
        """Wait until the other party has acknowledged this phone's answers: SIPp insists on it."""
        await until(lambda: self.dialog.is_acknowledged, what="the acknowledgement of an answer")

    async def disconnect(self) -> None:
        """Close the phone without signalling, as if it lost its network."""
        self._line.close()
        await self._sip.close()

    def _on_message(self, message: SipMessage) -> None:
        if message.rtp_port and not message.is_sent:
            self._peer_port = message.rtp_port
        if message.method == "BYE":
            self._line.leave()
        is_early = self.announces and message.status == SESSION_PROGRESS
        if message.answers_invite or (is_early and message.method == "INVITE"):
            self._line.speak_to(self._peer_port)


def _codec(media: str) -> Codec:
    """Return the codec that a phone with this SDP prefers."""
    return ALAW if "RTP/AVP 8" in media else ULAW


def _lines(headers: Sequence[str]) -> str:
    return "".join(f"\n{header}" for header in headers)
