"""The names of tapes: they say all that is needed to file what nobody remembers."""

import pytest

from engine.calls.tape import Archive, TapeName, read_name, tape_name

ARCHIVE = Archive("s3://calls/eu/", "acme_1/2026-11-21")
CALL = "3-pbx1-abcdefgh_1"


def test_a_calls_tapes_are_filed_as_one_recording() -> None:
    """Every tape of a conversation names the same file, after its call."""
    names = [tape_name(ARCHIVE, f"{CALL}.k{n}", 1_700_000_000_000 + n) for n in (4, 17)]
    read = [read_name(name) for name in names]
    path = f"acme_1/2026-11-21/{CALL}.wav"
    assert read == [
        TapeName(CALL, f"{CALL}.k4", path, "call", 1_700_000_000_004),
        TapeName(CALL, f"{CALL}.k17", path, "call", 1_700_000_000_017),
    ]


def test_each_message_is_a_recording_of_its_own() -> None:
    """A message is filed after its own id: a call may leave several."""
    read = read_name(tape_name(ARCHIVE, f"{CALL}.v9", 5))
    assert read == TapeName(CALL, f"{CALL}.v9", f"acme_1/2026-11-21/{CALL}.v9.wav", "voicemail", 5)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "message",
        f"{CALL}.k4",
        f"acme~2026-11-21~{CALL}.k4",
        f"acme~2026-11-21~{CALL}.p4~5",
        f"../acme~2026-11-21~{CALL}.k4~5",
        f"acme~2026-11-21~../{CALL}.k4~5",
        f"acme~2026-11-21~{CALL}.k4~5\n",
        f"acme~20261121~{CALL}.k4~5",
    ],
)
def test_what_is_no_tape_of_ours_is_left_alone(name: str) -> None:
    """Other recordings may lie on the PBX; nothing in a name leads out of the archive."""
    assert read_name(name) is None
