"""ARI events as call events (docs/asterisk.md: how legs begin and end)."""

from typing import Any

import pytest

from engine.calls.model.events import (
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegHeldByPhone,
    LegResumedByPhone,
    LegRinging,
    PlaybackEnded,
    TalkEnded,
    TalkStarted,
    VoicemailEnded,
)
from engine.calls.model.requests import ReferReceived
from engine.runtime.pbx.ari_events import subject_id, translate
from tests.harness.calls.builders import CHANNEL, ID, MAIN, NOW
from tests.harness.runtime.ari_messages import ari, channel, refer, refer_to_call
from wire.call_id_format import other_half

OTHER_HALF = other_half(MAIN)
VOICEMAIL = f"acme~2026-11-21~{ID}.v1~{NOW}~l0"
PBX_MS = 1_795_237_200_000  # the timestamp of all these events


def playback(state: str) -> dict[str, Any]:
    """Show a playback as Asterisk does."""
    return {
        "id": f"{ID}.p1",
        "media_uri": "sound:a",
        "target_uri": f"channel:{MAIN}",
        "language": "en",
        "state": state,
    }


def recording(state: str) -> dict[str, Any]:
    """Show a voicemail's recording as Asterisk does."""
    return {"name": VOICEMAIL, "format": "sln", "target_uri": f"channel:{MAIN}", "state": state}


CASES: list[tuple[Any, Event | None]] = [
    (
        ari("ChannelDtmfReceived", channel=channel(MAIN), digit="5", duration_ms=90),
        DigitPressed(MAIN, "5", NOW - 90, 90, PBX_MS),
    ),
    (ari("PlaybackFinished", playback=playback("done")), PlaybackEnded(f"{ID}.p1")),
    (ari("PlaybackFinished", playback=playback("failed")), PlaybackEnded(f"{ID}.p1", True)),
    (ari("RecordingFinished", recording=recording("done")), VoicemailEnded(VOICEMAIL)),
    (ari("RecordingFailed", recording=recording("failed")), VoicemailEnded(VOICEMAIL, failed=True)),
    (ari("ChannelStateChange", channel=channel(MAIN, "Ringing")), LegRinging(MAIN)),
    (ari("ChannelStateChange", channel=channel(MAIN, "Up")), LegAnswered(MAIN)),
    (ari("ChannelStateChange", channel=channel(CHANNEL, "Up")), LegAnswered(CHANNEL)),
    (ari("ChannelStateChange", channel=channel(CHANNEL, "Ring")), None),
    (ari("StasisStart", channel=channel(MAIN, "Down"), args=["called"]), LegCreated(MAIN)),
    (ari("StasisStart", channel=channel(CHANNEL), args=["inbound"]), None),
    (ari("StasisEnd", channel=channel(MAIN)), None),
    (ari("StasisEnd", channel=channel(CHANNEL)), LegEnded(CHANNEL, 16)),
    (
        ari(
            "ChannelDestroyed",
            channel=channel(MAIN, "Ringing"),
            cause=17,
            cause_txt="",
            tech_cause=486,
        ),
        LegEnded(MAIN, 17, 486),
    ),
    (ari("ChannelDestroyed", channel=channel(MAIN), cause=0, cause_txt=""), LegEnded(MAIN, 16)),
    *(
        (
            ari(
                "ChannelDestroyed",
                channel=channel(MAIN, "Ringing"),
                cause=before,
                cause_txt="",
                tech_cause=sip,
            ),
            LegEnded(MAIN, cause, sip),
        )
        for before, sip, cause in (
            (127, 607, 21),
            (127, 608, 21),
            (127, 609, 127),
            (16, 603, 16),  # our cancellation of a leg
            (19, 483, 25),
            (19, 480, 19),
        )
    ),
    *(  # a session timer that ran out, in a bridge and outside; a session that a phone has lost
        (
            ari(
                "ChannelDestroyed", channel=channel(MAIN), cause=heard, cause_txt="", tech_cause=sip
            ),
            LegEnded(MAIN, cause, sip),
        )
        for heard, sip, cause in ((16, 408, 18), (18, 408, 18), (127, 481, 127))
    ),
    *(  # the Reason of a BYE
        (
            ari(
                "ChannelDestroyed", channel=channel(MAIN), cause=cause, cause_txt="", tech_cause=sip
            ),
            LegEnded(MAIN, cause),
        )
        for cause, sip in ((127, 500), (17, 486), (31, 480))
    ),
    (
        ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=127, tech_cause=500),
        LegEnded(CHANNEL, 127),
    ),
    (  # an answer without SDP
        ari("ChannelDestroyed", channel=channel(MAIN), cause=127, cause_txt="", tech_cause=406),
        LegEnded(MAIN, 58, 406),
    ),
    (
        ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=127, tech_cause=406),
        LegEnded(CHANNEL, 58, 406),
    ),
    *(  # Asterisk follows none, and has cause 16 for all but 301 and 302
        (
            ari(
                "ChannelDestroyed",
                channel=channel(MAIN, "Down"),
                cause=16,
                cause_txt="",
                tech_cause=sip,
            ),
            LegEnded(MAIN, 23, sip),
        )
        for sip in (300, 305, 380)
    ),
    *(  # 302 of a phone at another node, whose dialplan says 22
        (
            ari(
                "ChannelDestroyed",
                channel={**channel(MAIN, "Down"), "name": name},
                cause=22,
                cause_txt="",
                tech_cause=410,
            ),
            meant,
        )
        for name, meant in (
            ("PJSIP/peers-00000002", LegEnded(MAIN, 23, 302)),
            ("PJSIP/peers-x-00000002", LegEnded(MAIN, 22, 410)),
            ("PJSIP/trunk-00000002", LegEnded(MAIN, 22, 410)),
        )
    ),
    (  # no RTP: the cause is the kind of the soft request
        ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=1, soft=True),
        LegEnded(CHANNEL, 44),
    ),
    (  # no ACK
        ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=18, tech_cause=408),
        LegEnded(CHANNEL, 18, 408),
    ),
    (ari("ChannelHangupRequest", channel=channel(CHANNEL)), None),  # BYE
    (
        ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=127, tech_cause=487),
        None,
    ),  # CANCEL
    (ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=16, soft=True), None),
    (ari("ChannelHangupRequest", channel=channel(CHANNEL), cause=32, soft=True), None),
    (ari("ChannelHangupRequest", channel=channel(MAIN), cause=1, soft=True), None),
    (ari("ChannelHold", channel=channel(MAIN)), LegHeldByPhone(MAIN)),
    (ari("ChannelUnhold", channel=channel(MAIN)), LegResumedByPhone(MAIN)),
    (ari("StasisEnd", channel=channel(f"{ID}.s12")), LegEnded(f"{ID}.s12", 16)),
    (ari("ChannelTalkingStarted", channel=channel(MAIN)), TalkStarted(MAIN)),
    (ari("ChannelTalkingFinished", channel=channel(MAIN), duration=480), TalkEnded(MAIN, 480)),
    (refer(destination="456"), ReferReceived(MAIN, "456")),
    (refer(destination="anna_b-2"), ReferReceived(MAIN, "anna_b-2")),  # perhaps an agent
    (refer(destination="not a number"), ReferReceived(MAIN, "")),
    (refer(destination="456", protocol_id="a@b"), ReferReceived(MAIN, "456", replaces=True)),
    (
        refer_to_call(),
        ReferReceived(MAIN, "456", replaces=True, replaced=CHANNEL, replaced_app="switchroom-0"),
    ),
    (
        refer_to_call(app_name="Dial"),
        ReferReceived(MAIN, "456", replaces=True, replaced=CHANNEL),
    ),
    (ari("ChannelStateChange", channel=channel(OTHER_HALF, "Up")), LegAnswered(OTHER_HALF)),
    (ari("StasisStart", channel=channel(OTHER_HALF, "Ring"), args=["replaces"]), None),
    (ari("StasisEnd", channel=channel(OTHER_HALF)), LegEnded(OTHER_HALF, 16)),
]


@pytest.mark.parametrize(("heard", "meant"), CASES)
def test_translation(heard: Any, meant: Event | None) -> None:
    """Each ARI event is one call event, or none."""
    assert translate(heard, NOW) == meant
    assert subject_id(heard) in {MAIN, CHANNEL, OTHER_HALF, f"{ID}.p1", f"{ID}.v1", f"{ID}.s12"}


def test_events_of_no_call() -> None:
    """An event about no channel of a call is ignored."""
    heard = ari("PlaybackStarted", playback=playback("playing"))
    assert subject_id(heard) is None
    assert translate(heard, NOW) is None
