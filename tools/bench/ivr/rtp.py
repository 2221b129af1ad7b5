"""RTP of phones: voice and RFC 4733 digits, as packets or as a pcap file for SIPp."""

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

VOICE = 0  # PCMU
DIGIT = 101  # telephone-event in our SDP
PACKET_MS = 20
TICKS_PER_MS = 8
DIGIT_MS = 100  # Asterisk stretches digits under 80 ms or with gaps under 45 ms
GAP_MS = 80
SILENCE = b"\xff" * PACKET_MS * TICKS_PER_MS
SDP = (
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
    "m=audio {port} RTP/AVP 0 101\r\na=rtpmap:0 PCMU/8000\r\n"
    "a=rtpmap:101 telephone-event/8000\r\na=fmtp:101 0-15\r\n"
)


class Packet(Struct, frozen=True):
    """One packet and its sending time, in milliseconds after the answer."""

    at_ms: int
    data: bytes
    ends_digit: bool = False


def standard_caller(digits: str, digits_at_ms: int) -> Iterator[Packet]:
    """Return the packets of a caller who presses all digits without a break."""
    step_ms = DIGIT_MS + GAP_MS
    return caller([(digits_at_ms + n * step_ms, digit) for n, digit in enumerate(digits)])


def caller(presses: Iterable[tuple[int, str]]) -> Iterator[Packet]:
    """Yield the packets of a caller: two of voice after the answer, then digits at their times.

    The dialplan's Answer waits up to 500 ms for a caller's first packet; ARI's does not.
    """
    sequence = iter(range(1, 1 << 15))
    for at_ms in (0, PACKET_MS):
        yield Packet(at_ms, _header(VOICE, next(sequence), at_ms) + SILENCE)
    for pressed_ms, digit in presses:
        for age_ms in range(0, DIGIT_MS, PACKET_MS):
            event = _event(digit, age_ms + PACKET_MS, is_end=False)
            header = _header(DIGIT, next(sequence), pressed_ms, is_first=age_ms == 0)
            yield Packet(pressed_ms + age_ms, header + event)
        for _ in range(3):  # the end packet is sent three times (RFC 4733, 2.5.1.4)
            header = _header(DIGIT, next(sequence), pressed_ms)
            yield Packet(pressed_ms + DIGIT_MS, header + _event(digit, DIGIT_MS, is_end=True), True)


def write_pcap(packets: Iterator[Packet], path: Path) -> None:
    """Write packets for SIPp's play_pcap_audio, which replaces the addresses."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1))
        for packet in packets:
            frame = _frame(packet.data)
            moment = divmod(packet.at_ms, 1000)
            out.write(struct.pack("<IIII", moment[0], moment[1] * 1000, len(frame), len(frame)))
            out.write(frame)


def _header(payload: int, sequence: int, at_ms: int, *, is_first: bool = False) -> bytes:
    marked = payload | (0x80 if is_first else 0)
    return struct.pack(">BBHII", 0x80, marked, sequence, at_ms * TICKS_PER_MS, 0x5317C4)


def _event(digit: str, age_ms: int, *, is_end: bool) -> bytes:
    flags = (0x80 if is_end else 0) | 10  # volume -10 dBm0
    return struct.pack(">BBH", "0123456789*#".index(digit), flags, age_ms * TICKS_PER_MS)


def _frame(data: bytes) -> bytes:
    udp = struct.pack(">HHHH", 9, 9, 8 + len(data), 0) + data
    local = bytes((127, 0, 0, 1))
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, local, local)
    return bytes(12) + b"\x08\x00" + ip + udp
