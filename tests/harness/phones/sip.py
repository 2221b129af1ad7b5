"""The SIP side of a phone: one SIPp process for one call, followed by its message trace."""

import asyncio
import re
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from msgspec import Struct

from dev.servers.ports import is_udp_bound
from dev.servers.process import Process
from tests.harness.ports import media_port
from tests.harness.until import until

SCENARIOS = Path(__file__).with_name("sipp")
ULAW_AND_EVENTS = """m=audio @RTP_PORT@ RTP/AVP 0 101
      a=rtpmap:0 PCMU/8000
      a=rtpmap:101 telephone-event/8000
      a=fmtp:101 0-15
      a=ptime:20"""
ALAW_AND_EVENTS = """m=audio @RTP_PORT@ RTP/AVP 8 101
      a=rtpmap:8 PCMA/8000
      a=rtpmap:101 telephone-event/8000
      a=fmtp:101 0-15
      a=ptime:20"""
NO_SDP = "Content-Length: 0\n"
SDP = """Content-Type: application/sdp
      Content-Length: [len]

      v=0
      o=- 1 1 IN IP4 127.0.0.1
      s=-
      c=IN IP4 127.0.0.1
      t=0 0
      @MEDIA@
"""
POLL_INTERVAL_S = 0.01
OK = 200
HARNESS_FROM = "<sip:harness@127.0.0.1>;tag=1"
_MESSAGE = re.compile(r"^-{47} [^\n]*\nUDP message (sent|received)[^\n]*:\n\n", re.MULTILINE)


class SipMessage(Struct, frozen=True):
    """One SIP message; at_ms is the monotonic time when it was read from the trace."""

    at_ms: float
    is_sent: bool
    text: str

    @property
    def first_line(self) -> str:
        """Return the request or status line."""
        return self.text.partition("\n")[0].strip()

    @property
    def status(self) -> int:
        """Return the status code; 0 for a request."""
        found = re.match(r"SIP/2.0 (\d{3})", self.text)
        return int(found[1]) if found else 0

    @property
    def method(self) -> str:
        """Return the method of the request, or of the request that a response answers."""
        return self.header("CSeq").rpartition(" ")[2]

    @property
    def sequence(self) -> str:
        """Return the number in CSeq, which an ACK has in common with its INVITE."""
        return self.header("CSeq").partition(" ")[0]

    @property
    def answers_invite(self) -> bool:
        """Return whether this is the answer to an INVITE or re-INVITE."""
        return (self.status, self.method) == (OK, "INVITE")

    def header(self, name: str) -> str:
        """Return the first value of a header, or an empty string."""
        found = re.search(rf"^{name}: *(.*?)\r?$", self.text, re.MULTILINE)
        return found[1] if found else ""

    @property
    def rtp_port(self) -> int:
        """Return the audio port of the SDP; 0 without SDP."""
        found = re.search(r"^m=audio (\d+)", self.text, re.MULTILINE)
        return int(found[1]) if found else 0

    @property
    def payload_types(self) -> list[str]:
        """Return the RTP payload types of the SDP's audio, the preferred one first."""
        found = re.search(r"^m=audio \d+ RTP/AVP (.*?)\r?$", self.text, re.MULTILINE)
        return found[1].split() if found else []


class SipCall:
    """A SIPp process with a scenario of `sipp/`, in which `@NAME@` is replaced by a value."""

    def __init__(self, folder: Path, scenario: str, port: int, remote: str = "") -> None:
        self.port = port
        self.messages: list[SipMessage] = []
        self.on_message: Callable[[SipMessage], None] = lambda _message: None
        self._folder = folder / f"{scenario}-{port}-{time.monotonic_ns()}"
        self._scenario = scenario
        self._remote = remote
        self._call_id = ""
        self._process: Process | None = None
        self._watch_task: asyncio.Task[None] | None = None

    async def start(self, values: Mapping[str, object]) -> Self:
        """Start SIPp and return when it listens."""
        self._folder.mkdir(parents=True)
        text = (SCENARIOS / f"{self._scenario}.xml").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        (self._folder / "scenario.xml").write_text(text)
        self._process = Process.start(
            self._command(), log=self._folder / "output.log", cwd=self._folder
        )
        await until(self._is_bound, what=f"SIPp to listen on {self.port}")
        self._watch_task = asyncio.get_running_loop().create_task(self._watch_trace())
        return self

    def send(self, method: str, *headers: str) -> None:
        """Send SIPp a request that triggers a step of its scenario; INFO hangs up."""
        request = (
            f"{method} sip:phone@127.0.0.1 SIP/2.0",
            f"Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bK{time.monotonic_ns()}",
            f"From: {HARNESS_FROM}",
            "To: <sip:phone@127.0.0.1>",
            f"Call-ID: {self.messages[0].header('Call-ID')}",
            f"CSeq: 1 {method}",
            *headers,
            "Content-Length: 0",
            "\r\n",
        )
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.sendto("\r\n".join(request).encode(), ("127.0.0.1", self.port))

    async def wait_ended(self) -> None:
        """Wait until SIPp has ended by itself."""
        await until(lambda: self._process is None or not self._process.alive(), what="SIPp's end")

    async def close(self) -> None:
        """Kill SIPp if it runs."""
        if self._watch_task is not None:
            self._watch_task.cancel()
        if self._process is not None:
            await self._process.kill()
            self._process = None

    def _command(self) -> tuple[str, ...]:
        """Return the command; scenarios of phones that are called end SIPp themselves.

        With `-m 1` it would end by a repeated BYE of a phone that had its port before.
        """
        calls = (self._remote, "-m", "1") if self._remote else ()
        return (
            *("sipp", *calls, "-sf", "scenario.xml", "-nostdin"),
            *("-i", "127.0.0.1", "-p", str(self.port), "-mp", str(media_port())),
            *("-trace_msg", "-message_file", "messages.log", "-trace_err"),
        )

    def _is_bound(self) -> bool:
        ends_early = self._process is None or not self._process.alive()
        return ends_early or is_udp_bound(self.port)

    async def _watch_trace(self) -> None:
        trace = self._folder / "messages.log"
        read = 0
        while True:
            if trace.exists() and trace.stat().st_size > read:
                read += self._read_messages(trace.read_bytes()[read:].decode(errors="replace"))
            await asyncio.sleep(POLL_INTERVAL_S)  # SIPp reports nothing: its file is polled

    def _read_messages(self, text: str) -> int:
        """Read the complete messages of a piece of trace; returns their length in bytes."""
        heads = list(_MESSAGE.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        for head, end in zip(heads, ends, strict=True):
            body = text[head.end() : end]
            if end == len(text) and "\n\n" not in body.replace("\r", ""):
                return len(text[: head.start()].encode())
            message = SipMessage(time.monotonic() * 1000, head[1] == "sent", body)
            if self._is_of_call(message):
                self.messages.append(message)
                self.on_message(message)
        return len(text.encode())

    def _is_of_call(self, message: SipMessage) -> bool:
        """Return whether a message is of this phone's call: others had its port before."""
        if not self._call_id and message.method in {"INVITE", "REGISTER"}:
            self._call_id = message.header("Call-ID")
        is_of_call = message.header("Call-ID") == self._call_id
        return is_of_call and message.header("From") != HARNESS_FROM
