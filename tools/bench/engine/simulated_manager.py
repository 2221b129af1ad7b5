"""The manager interface of the simulated PBX: logins, its status, and RTCP reports of live calls.

Asterisk sends two reports of each leg in five seconds to each manager connection that wants them.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress

REPORT_INTERVAL_S = 5.0
TICKS = 20  # in an interval: a share of the calls is reported in each
ANSWERS = {
    "Login": "Response: Success\r\nMessage: Authentication accepted\r\n",
    "PJSIPShowAors": "Response: Success\r\nEventList: start\r\n",
    "PJSIPShowContacts": "Response: Success\r\nEventList: start\r\n",
}
EMPTY = "Event: ListComplete\r\nEventList: Complete\r\nListItems: 0\r\n"
REPORT = (
    "Event: {event}\r\nPrivilege: reporting,all\r\nTimestamp: 1795237552.100000\r\n"
    "Channel: PJSIP/trunk-{channel}\r\nChannelState: 6\r\nChannelStateDesc: Up\r\n"
    "CallerIDNum: +15550001\r\nCallerIDName: <unknown>\r\nConnectedLineNum: <unknown>\r\n"
    "ConnectedLineName: <unknown>\r\nLanguage: en\r\nAccountCode: \r\nContext: slots\r\n"
    "Exten: s\r\nPriority: 3\r\nUniqueid: {channel}\r\nLinkedid: {channel}\r\n"
    "To: 127.0.0.1:30001\r\nFrom: 127.0.0.1:20001\r\nSSRC: 0x5f3759df\r\nPT: 200(SR)\r\n"
    "ReportCount: 1\r\nSentNTP: 1795237552.100000\r\nSentRTP: 40000\r\nSentPackets: 250\r\n"
    "SentOctets: 40000\r\nReport0SourceSSRC: 0x1b873593\r\nReport0FractionLost: 0\r\n"
    "Report0CumulativeLost: 0\r\nReport0HighestSequence: 40000\r\n"
    "Report0SequenceNumberCycles: 0\r\nReport0IAJitter: 8\r\nReport0LSR: 0\r\n"
    "Report0DLSR: 0.0000\r\n\r\n"
)


class SimulatedManager:
    """Serves every engine that monitors the node; `channels` returns the live ones."""

    def __init__(self, channels: Callable[[], Sequence[str]]) -> None:
        self._channels = channels
        self._writers: set[asyncio.StreamWriter] = set()

    async def run(self, port: int) -> None:
        """Serve until cancelled."""
        async with await asyncio.start_server(self._serve, "127.0.0.1", port):
            while True:
                await self._report_all()

    async def _report_all(self) -> None:
        """Report all calls within an interval, evenly."""
        channels = self._channels()
        for tick in range(TICKS):
            reports = "".join(
                REPORT.format(event=event, channel=channel)
                for channel in channels[tick::TICKS]
                for event in ("RTCPReceived", "RTCPSent")
            ).encode()
            for writer in self._writers:
                writer.write(reports)
            await asyncio.sleep(REPORT_INTERVAL_S / TICKS)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"Asterisk Call Manager/9.0.0\r\n")
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                block = (await reader.readuntil(b"\r\n\r\n")).decode()
                pairs = (line.partition(": ") for line in block.splitlines() if line)
                action = {name: value for name, _, value in pairs}
                writer.write(self._answer(action).encode())
                if "reporting" in action.get("Events", ""):
                    self._writers.add(writer)  # after the answer to its login
        self._writers.discard(writer)

    def _answer(self, action: dict[str, str]) -> str:
        status = f"Response: Success\r\nCoreCurrentCalls: {len(self._channels())}\r\n"
        last = f"ActionID: {action['ActionID']}\r\n\r\n"
        answer = ANSWERS.get(action["Action"], status) + last
        is_list = action["Action"] in {"PJSIPShowAors", "PJSIPShowContacts"}
        return f"{answer}{EMPTY}{last}" if is_list else answer
