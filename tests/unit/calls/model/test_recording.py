"""File names of recordings contain all that archiving needs."""

import pytest

from engine.calls.model.recording import (
    RecordingDestination,
    RecordingName,
    parse_recording_name,
    recording_name,
)

ARCHIVE = RecordingDestination("s3://calls/eu/", "acme_1/2026-11-21")
CALL = "3-pbx1-abcdefgh_1"
PATH = "acme_1/2026-11-21"


def test_a_calls_files_are_archived_as_one_recording() -> None:
    """Every file of a conversation has the same path, named after its call; and its own leg."""
    first = recording_name(ARCHIVE, f"{CALL}.k4", "pbx1-1795246918.1", 4_004)
    second = recording_name(ARCHIVE, f"{CALL}.k17", f"{CALL}.l3", 4_017)
    path = f"{PATH}/{CALL}.wav"
    assert [parse_recording_name(first), parse_recording_name(second)] == [
        RecordingName(CALL, f"{CALL}.k4", path, "call", 4_004, "pbx1-1795246918.1"),
        RecordingName(CALL, f"{CALL}.k17", path, "call", 4_017, f"{CALL}.l3"),
    ]


def test_each_voicemail_is_its_own_recording() -> None:
    """Its path is named after its own id: a call may have several."""
    read = parse_recording_name(recording_name(ARCHIVE, f"{CALL}.v9", f"{CALL}.l0", 5))
    path = f"{PATH}/{CALL}.v9.wav"
    assert read == RecordingName(CALL, f"{CALL}.v9", path, "voicemail", 5, f"{CALL}.l0")


def test_the_longest_name() -> None:
    """255 characters, with `.raw`; other characters of the leg's id are replaced."""
    archive = RecordingDestination("s3://calls/", f"{'a' * 64}/2026-11-21")
    call = f"255-{'n' * 16}-{'t' * 64}"
    name = recording_name(archive, f"{call}.k99999", f"a:b/c~{'d' * 99}.7", 86_400_000)
    assert len(name) <= 251
    assert parse_recording_name(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "",
        "message",
        f"{CALL}.k4",
        f"acme~2026-11-21~{CALL}.k4~5",
        f"acme~2026-11-21~{CALL}.p4~5~l0",
        f"../acme~2026-11-21~{CALL}.k4~5~l0",
        f"acme~2026-11-21~../{CALL}.k4~5~l0",
        f"acme~2026-11-21~{CALL}.k4~5~l0\n",
        f"acme~20261121~{CALL}.k4~5~l0",
    ],
)
def test_other_files_are_ignored(name: str) -> None:
    """The PBX may have other recordings; no name leads out of the archive."""
    assert parse_recording_name(name) is None
