"""SIP messages and audio of the lab's phone."""

import wave
from pathlib import Path

import pytest

from dev.phone.g711 import RATE_HZ, SILENCE, sound_s, write_wav
from dev.phone.message import (
    Message,
    events_type_of,
    hangup_cause,
    media_address,
    parse,
    rejection,
    response,
    sdp,
    user_of,
)

INVITE = (
    b"INVITE sip:+4722222222@127.0.0.1:5080 SIP/2.0\r\n"
    b"v: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK1\r\n"
    b"Via: SIP/2.0/UDP 127.0.0.1:5061;branch=z9hG4bK2\r\n"
    b"From: <sip:+4721930000@127.0.0.1>;tag=a\r\nTo: <sip:+4722222222@127.0.0.1>\r\n"
    b"Call-ID: c\r\nCSeq: 7 INVITE\r\nContent-Length: 0\r\n\r\n"
)


def test_a_response_returns_what_a_request_names() -> None:
    """All Via headers in order, also in their short form; our tag is added to To."""
    request = parse(INVITE)
    assert request is not None
    found = parse(response(request, "180 Ringing", "t").encode())
    assert found is not None
    assert (found.status, found.reason, found.method) == (180, "Ringing", "INVITE")
    assert [each[-1] for each in found.all("Via")] == ["1", "2"]
    assert found.header("To").endswith(";tag=t")
    assert user_of(request.header("To")) == "+4722222222"


def test_what_is_no_message() -> None:
    """A keep-alive or noise is ignored."""
    assert parse(b"\r\n\r\n") is None
    assert parse(b"\xff\x00") is None


def test_a_description_says_where_audio_is_sent() -> None:
    """What we write, we read; a description without audio has no address."""
    assert media_address(sdp(4000, 101)) == ("127.0.0.1", 4000)
    assert events_type_of(sdp(4000, 96), 101) == 96
    assert media_address("") is None


@pytest.mark.parametrize(
    ("host", "port"),
    [("voice.example", "4000"), ("127.0.0.1", "0"), ("127.0.0.1", "65536"), ("::1", "4000"),
     ("127.0.0.1", "9" * 5_000)],
)  # fmt: skip
def test_a_description_of_a_stranger_leads_nowhere(host: str, port: str) -> None:
    """No name is looked up for each packet, and no port is impossible."""
    assert media_address(f"c=IN IP4 {host}\r\nm=audio {port} RTP/AVP 0\r\n") is None


def test_a_user_has_no_control_characters() -> None:
    """It is printed to a log that a terminal shows."""
    assert user_of("<sip:\x1b[31m+47\x9b@127.0.0.1>") == "[31m+47"


def test_a_cause_may_be_any_text() -> None:
    """A number that is no cause is none."""
    bye = Message("BYE x SIP/2.0", (("Reason", f"Q.850;cause={'9' * 5_000}"),))
    assert hangup_cause(bye) == "no cause given"


def test_the_cause_of_a_hangup_has_a_name() -> None:
    """As in timelines; a BYE without Reason gives none."""
    bye = parse(b'BYE sip:a SIP/2.0\r\nReason: Q.850;cause=16;text="x"\r\n\r\n')
    bare = parse(b"BYE sip:a SIP/2.0\r\nCSeq: 1 BYE\r\n\r\n")
    assert bye is not None
    assert bare is not None
    assert hangup_cause(bye) == "normal clearing (16)"
    assert hangup_cause(bare) == "no cause given"


@pytest.mark.parametrize(
    ("number", "text"),
    [(2, "no route to the network (2)"), (3, "no route to the destination (3)")],
)
def test_a_rejection_says_its_cause(number: int, text: str) -> None:
    """Beside the status, if the PBX gives one."""
    given = parse(f"SIP/2.0 404 Not Found\r\nReason: Q.850;cause={number}\r\n\r\n".encode())
    bare = parse(b"SIP/2.0 404 Not Found\r\nCSeq: 1 INVITE\r\n\r\n")
    assert given is not None
    assert bare is not None
    assert rejection(given) == f"404 Not Found: {text}"
    assert rejection(bare) == "404 Not Found"


def test_silence_is_no_sound(tmp_path: Path) -> None:
    """A second of silence and a second of the loudest value are a WAV of two seconds."""
    codes = bytes([SILENCE]) * RATE_HZ + bytes([0]) * RATE_HZ
    assert sound_s(codes) == 1.0
    write_wav(tmp_path / "heard.wav", codes)
    with wave.open(str(tmp_path / "heard.wav")) as file:
        assert (file.getframerate(), file.getnframes()) == (RATE_HZ, 2 * RATE_HZ)
