"""PBX commands as ARI requests, and replies as call events."""

import pytest
from msgspec.structs import replace

from engine.ari.request import Reply, Request
from engine.calls.model import causes
from engine.calls.model import commands as do
from engine.calls.model.events import BridgeFailed, Event, LegEnded, PlaybackEnded, VoicemailEnded
from engine.calls.model.requests import ReplacementArrived
from engine.media.clip import LEAD_IN_MS, MAX_JOINED, MAX_JOINED_MS
from engine.runtime.pbx.ari_requests import (
    continues_after,
    event_from_reply,
    is_pipelined,
    may_block,
    may_follow_at_once,
    requests_for,
)
from engine.runtime.pbx.incoming_call_arguments import read_replacement
from tests.harness.calls.builders import CLIPS, ID, MAIN
from tests.harness.runtime.shard_scene import ENDPOINTS
from wire.media import Clip

CLIP_URL = "sound:http://127.0.0.1:8070/media/{}.wav"
JOINED = "-".join(clip.key for clip in CLIPS)
LINES: list[tuple[do.PbxCommand, list[str]]] = [
    (do.Answer(MAIN), [f"POST channels/{MAIN}/answer"]),
    (do.Hangup(MAIN, 17), [f"DELETE channels/{MAIN}"]),
    (do.StopPlayback(f"{ID}.p1"), [f"DELETE playbacks/{ID}.p1"]),
    (do.PausePlayback(f"{ID}.p1"), [f"POST playbacks/{ID}.p1/control"]),
    (do.ResumePlayback(f"{ID}.p1"), [f"POST playbacks/{ID}.p1/control"]),
    (do.StartHoldMusic(MAIN), [f"POST channels/{MAIN}/moh"]),
    (do.StopHoldMusic(MAIN), [f"DELETE channels/{MAIN}/moh"]),
    (do.StartRinging(MAIN), [f"POST channels/{MAIN}/ring"]),
    (do.StopRinging(MAIN), [f"DELETE channels/{MAIN}/ring"]),
    (
        do.AddToBridge(f"{ID}.b1", (MAIN, f"{ID}.l1")),
        [f"POST bridges/{ID}.b1", f"POST bridges/{ID}.b1/addChannel"],
    ),
    (do.RemoveFromBridge(f"{ID}.b1", MAIN), [f"POST bridges/{ID}.b1/removeChannel"]),
    (do.DestroyBridge(f"{ID}.b1"), [f"DELETE bridges/{ID}.b1"]),
    (do.Mute(MAIN, "in"), [f"POST channels/{MAIN}/mute"]),
    (do.Unmute(MAIN, "in"), [f"DELETE channels/{MAIN}/mute"]),
    (do.AnswerRefer(MAIN, accepted=True), [f"POST channels/{MAIN}/transfer_progress"]),
    (do.Snoop(f"{ID}.s1", MAIN), [f"POST channels/{MAIN}/snoop/{ID}.s1"]),
    (do.Listen(f"{ID}.s1", MAIN, "in"), [f"POST channels/{MAIN}/snoop/{ID}.s1"]),
    (do.ResetConverter(MAIN), [f"POST channels/{MAIN}/silence", f"DELETE channels/{MAIN}/silence"]),
    (do.StartTalkDetection(MAIN, 200), [f"POST channels/{MAIN}/variable"]),
    (do.StopTalkDetection(MAIN, "human"), [f"POST channels/{MAIN}/variable"]),
    (do.StartVoicemail("1.7", "a~v1", 60, 5, "#"), ["POST channels/1.7/record"]),
    (
        do.StartVoicemail(MAIN, "a~v1", 60, 5, "#"),
        [
            f"POST bridges/{MAIN}b",
            f"POST bridges/{MAIN}b/addChannel",
            f"POST bridges/{MAIN}b/removeChannel",
            f"DELETE bridges/{MAIN}b",
            f"POST channels/{MAIN}/record",
        ],
    ),
    (do.StopVoicemail("a~v1"), ["POST recordings/live/a~v1/stop"]),
]


@pytest.mark.parametrize(("command", "lines"), LINES)
def test_the_requests_of_each_command(command: do.PbxCommand, lines: list[str]) -> None:
    """Every command names ids chosen in advance, so that repeating it is harmless."""
    found = requests_for(command, ENDPOINTS)
    assert [f"{each.method} {each.path}" for each in found] == lines


@pytest.mark.parametrize(("kind", "name"), [("b", "mixing"), ("m", "mixing,video_sfu")])
def test_the_type_of_a_bridge(kind: str, name: str) -> None:
    """Only a bridge for video mixes the audio of two legs."""
    create, _add = requests_for(do.AddToBridge(f"{ID}.{kind}1", (MAIN,)), ENDPOINTS)
    assert ("type", name) in create.query


def test_only_bridges_may_block() -> None:
    """Requests that may wait behind a playback are kept off the calls' connections."""
    blocking = {type(command) for command, _ in LINES if may_block(command)}
    assert blocking == {do.AddToBridge, do.RemoveFromBridge, do.DestroyBridge}


@pytest.mark.parametrize(
    ("party", "endpoint"),
    [
        ("+4721930000", "PJSIP/+4721930000@trunk"),
        ("*21#", "PJSIP/*21#@trunk"),
        ("agent:1001", "PJSIP/1001"),
        ("sip:bob@example.com:5060", "PJSIP/trunk/sip:bob@example.com:5060"),
        ("sips:bob@example.com", "PJSIP/trunk/sips:bob@example.com"),
    ],
)
def test_how_parties_are_dialled(party: str, endpoint: str) -> None:
    """Numbers go over the trunk, agents to their endpoint, sip: URIs through the trunk."""
    (request,) = requests_for(do.Originate(MAIN, party, "+4799"), ENDPOINTS)
    assert request.path == "channels/create"
    query = dict(request.query)
    assert query["endpoint"] == endpoint
    assert query["app"] == "switchroom-0"
    assert query["channelId"] == MAIN
    assert request.body == {"variables": {"CONNECTEDLINE(num,i)": "+4799"}}


def test_a_leg_gets_the_codec_of_its_originator() -> None:
    """Asterisk takes the formats of the originator, if that is still there."""
    (request,) = requests_for(do.Originate(f"{ID}.l1", "+4799", "", originator=MAIN), ENDPOINTS)
    assert dict(request.query)["originator"] == MAIN


def test_a_local_channel_connects_two_calls() -> None:
    """One half is the leg; the other one enters the app of the leg that it replaces."""
    replaced = do.ReplacedLeg("1700000000.9", "switchroom-5", "a,b", "sip:c,d@example.com")
    (request,) = requests_for(do.Originate(MAIN, "+4799", "", replaces=replaced), ENDPOINTS)
    query = dict(request.query)
    assert query["endpoint"] == "Local/s@switchroom-replaces/n"
    assert (query["app"], query["channelId"]) == ("switchroom-0", MAIN)
    assert query["otherChannelId"] == f"{MAIN}.other"
    assert isinstance(request.body, dict)
    (arguments,) = request.body["variables"].values()
    app, *args = arguments.split(",")
    assert app == "switchroom-5"
    read = read_replacement(f"{MAIN}.other", args)
    assert read == ReplacementArrived(f"{MAIN}.other", "1700000000.9", "a,b", "sip:c,d@example.com")


@pytest.mark.parametrize("args", [[], ["inbound", "1"], ["replaces", "1.2"]])
def test_other_arguments_are_those_of_no_replacement(args: list[str]) -> None:
    assert read_replacement(f"{MAIN}.other", args) is None


def test_a_party_is_marked_and_dialled_at_once() -> None:
    """The mark goes with the dial, whose timeout in Asterisk is a little longer than ours."""
    dial_command = do.Dial(MAIN, 30)
    mark, dial = requests_for(dial_command, ENDPOINTS)
    assert mark.uri == f"channels/{MAIN}/variable?variable=SWITCHROOM_CALLED&value=1"
    assert dial.uri == f"channels/{MAIN}/dial?timeout=35"
    assert is_pipelined(dial_command, keeps_order=True)
    assert not is_pipelined(do.AddToBridge(f"{ID}.b1", (MAIN,)), keeps_order=True)


def test_without_a_caller_id_none_is_sent() -> None:
    """The PBX's own default applies then."""
    (request,) = requests_for(do.Originate(MAIN, "+4721930000", ""), ENDPOINTS)
    assert request.body is None or request.body == {}


def test_clips_are_played_from_our_media_server() -> None:
    """Several are one file, which the PBX has whole when it begins to play."""
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS), ENDPOINTS)
    assert request.path == f"channels/{MAIN}/play/{ID}.p1"
    assert query_of(request)["media"] == CLIP_URL.format(JOINED)
    assert "offsetms" not in query_of(request)
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS[:1]), ENDPOINTS)
    assert query_of(request)["media"] == CLIP_URL.format(CLIPS[0].key)


@pytest.mark.parametrize(
    "clips",
    [
        CLIPS[:1] * 3,
        CLIPS * (MAX_JOINED // 2 + 1),
        (CLIPS[0], replace(CLIPS[1], duration_ms=MAX_JOINED_MS)),
    ],
    ids=["equal", "many", "long"],
)
def test_clips_that_are_played_as_a_list(clips: tuple[Clip, ...]) -> None:
    """The PBX has equal ones after the first; the others would be too large as one file."""
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", clips), ENDPOINTS)
    assert query_of(request)["media"] == ",".join(CLIP_URL.format(clip.key) for clip in clips)


def test_an_offset_applies_to_the_first_file_after_its_lead_in() -> None:
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS, 250), ENDPOINTS)
    assert query_of(request)["media"] == CLIP_URL.format(f"{JOINED}-lead-in")
    assert query_of(request)["offsetms"] == str(250 + LEAD_IN_MS)
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS[:1] * 2, 250), ENDPOINTS)
    names = (f"{CLIPS[0].key}-lead-in", CLIPS[0].key)
    assert query_of(request)["media"] == ",".join(map(CLIP_URL.format, names))


def test_every_file_of_a_playback_that_may_pause_has_a_lead_in() -> None:
    """It may pause in each of them."""
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS, may_pause=True), ENDPOINTS)
    assert query_of(request)["media"] == CLIP_URL.format(f"{JOINED}-lead-in")
    (request,) = requests_for(do.Play(MAIN, f"{ID}.p1", CLIPS[:1] * 2, may_pause=True), ENDPOINTS)
    names = [f"{CLIPS[0].key}-lead-in"] * 2
    assert query_of(request)["media"] == ",".join(map(CLIP_URL.format, names))


def query_of(request: Request) -> dict[str, str]:
    return dict(request.query)


ORIGINATE = do.Originate(MAIN, "+4721930000", "")
DIAL = do.Dial(MAIN, 30)
PLAY = do.Play(MAIN, f"{ID}.p1", CLIPS)
BRIDGE = do.AddToBridge(f"{ID}.b1", (MAIN,))
OUTCOMES: list[tuple[do.PbxCommand, Reply, Event | None]] = [
    (ORIGINATE, Reply(200), None),
    (ORIGINATE, Reply(409), LegEnded(MAIN, 41, reason="unavailable")),
    (ORIGINATE, Reply(400), LegEnded(MAIN, 41, reason="unavailable")),
    (ORIGINATE, Reply(500), LegEnded(MAIN, 41, reason="unavailable")),
    (DIAL, Reply(204), None),
    (DIAL, Reply(409), None),
    (DIAL, Reply(404), LegEnded(MAIN, 41)),
    (PLAY, Reply(201), None),
    (PLAY, Reply(404), PlaybackEnded(f"{ID}.p1", failed=True)),
    (BRIDGE, Reply(204), None),
    (BRIDGE, Reply(404, b'{"message":"gone"}'), BridgeFailed(f"{ID}.b1", "gone", (MAIN,))),
    (BRIDGE, Reply(409, b'{"error":"busy"}'), BridgeFailed(f"{ID}.b1", "busy", (MAIN,))),
    (BRIDGE, Reply(500, b"<html>"), BridgeFailed(f"{ID}.b1", "status 500", (MAIN,))),
    (BRIDGE, Reply(500, b"\xff"), BridgeFailed(f"{ID}.b1", "status 500", (MAIN,))),
    (do.Answer(MAIN), Reply(204), None),
    (do.Answer(MAIN), Reply(404), LegEnded(MAIN, 16)),
    (do.Answer(MAIN), Reply(409), None),
    (do.Hangup(MAIN, 16), Reply(404), None),
    (do.Hangup(MAIN, 16, is_repeated=True), Reply(404), LegEnded(MAIN, 16)),
    (do.Hangup(MAIN, 16, is_repeated=True), Reply(409), None),
    (do.StopPlayback("p"), Reply(404), None),
]


@pytest.mark.parametrize(("command", "reply", "event"), OUTCOMES)
def test_events_from_replies(command: do.PbxCommand, reply: Reply, event: Event | None) -> None:
    """Failures become events; a leg that is ringing (409) was dialled before."""
    assert event_from_reply(command, reply) == event


def test_talk_is_detected_by_a_variable() -> None:
    """Its value is the silence and Asterisk's default level; an empty value removes it."""
    (start,) = requests_for(do.StartTalkDetection(MAIN, 200), ENDPOINTS)
    assert dict(start.query) == {"variable": "TALK_DETECT(set)", "value": "200,256"}
    (stop,) = requests_for(do.StopTalkDetection(MAIN, "human"), ENDPOINTS)
    assert dict(stop.query) == {"variable": "TALK_DETECT(remove)", "value": ""}


def test_a_voicemail_is_never_overwritten() -> None:
    """Asterisk ends it a second later than the call does; a known name is rejected."""
    (record,) = requests_for(do.StartVoicemail("1.7", "a~v1", 60, 5, "5"), ENDPOINTS)
    query = dict(record.query)
    assert (query["name"], query["format"], query["ifExists"]) == ("a~v1", "sln", "fail")
    assert (query["maxDurationSeconds"], query["maxSilenceSeconds"]) == ("61", "5")
    assert query["terminateOn"] == "none", "it knows * and # only"
    start = do.StartVoicemail("1.7", "a~v1", 60, 5, "#")
    assert event_from_reply(start, Reply(409)) == VoicemailEnded("a~v1")
    assert event_from_reply(start, Reply(404)) == VoicemailEnded("a~v1", failed=True)
    assert event_from_reply(start, Reply(201)) is None


@pytest.mark.parametrize(
    ("caller_id", "withheld", "variables"),
    [
        ("+4799", False, {"CONNECTEDLINE(num,i)": "+4799"}),
        ("+4799", True, {"CONNECTEDLINE(num,i)": "+4799", "CONNECTEDLINE(pres,i)": "prohib"}),
        ("", True, {"CONNECTEDLINE(pres,i)": "prohib"}),
        ("", False, None),
    ],
)
def test_what_a_called_phone_shows(
    caller_id: str, withheld: bool, variables: dict[str, str] | None
) -> None:
    """A withheld caller id is marked so: Asterisk shows it only to a trusted trunk."""
    command = do.Originate(f"{ID}.l1", "+4711111111", caller_id, withheld)
    (request,) = requests_for(command, ENDPOINTS)
    assert (request.body or {}).get("variables") == variables


@pytest.mark.parametrize("withheld", [False, True])
def test_the_name_that_an_agents_phone_shows(withheld: bool) -> None:
    """Beside the number, which a withheld one is not."""
    command = do.Originate(f"{ID}.l1", "agent:ada", "+4799", withheld)
    (request,) = requests_for(command, replace(ENDPOINTS, caller_name="Åse"))
    variables = (request.body or {})["variables"]
    assert variables.get("CONNECTEDLINE(name,i)") == (None if withheld else "Åse")


@pytest.mark.parametrize(
    ("endpoint", "variable"),
    [
        ("Local/ada@browser-phone/n", "__SWITCHROOM_LEG"),
        ("PJSIP/peers/sip:ada@10.0.0.2:5060", "PJSIP_HEADER(add,X-Switchroom-Leg)"),
    ],
)
def test_a_phone_in_a_browser_gets_the_id_of_its_leg(endpoint: str, variable: str) -> None:
    """So its page can control the call; the dialplan of its node passes it on."""
    chosen = replace(ENDPOINTS, agent=endpoint, agent_gets_leg=True)
    leg = f"{ID}.l1"
    (request,) = requests_for(do.Originate(leg, "agent:ada", "+4799", originator=MAIN), chosen)
    query = dict(request.query)
    assert (query["endpoint"], query["channelId"]) == (endpoint, leg)
    assert (query["app"], query["appArgs"]) == ("switchroom-0", "called")
    assert (request.body or {})["variables"] == {"CONNECTEDLINE(num,i)": "+4799", variable: leg}
    is_local = endpoint.startswith("Local/")
    assert query.get("otherChannelId") == (f"{leg}.other" if is_local else None)
    assert query.get("formats") == ("ulaw" if is_local else None)
    assert query.get("originator") == (None if is_local else MAIN)


@pytest.mark.parametrize(
    ("command", "spy", "whisper"),
    [
        (do.Snoop(f"{ID}.s1", MAIN), "both", "out"),
        (do.Listen(f"{ID}.s1", MAIN, "in"), "in", "none"),
        (do.Listen(f"{ID}.s1", MAIN, "both"), "both", "none"),
    ],
)
def test_only_the_snoop_of_a_coach_is_heard(command: do.Snoop, spy: str, whisper: str) -> None:
    """That of a fork hears what its track says."""
    (request,) = requests_for(command, ENDPOINTS)
    assert {("spy", spy), ("whisper", whisper)} <= set(request.query)


def test_a_snoop_that_cannot_start_has_ended() -> None:
    """The coach's bridge is then not waited for; a snoop that starts is reported by its event."""
    snoop = do.Snoop(f"{ID}.s1", MAIN)
    ended = event_from_reply(snoop, Reply(404))
    assert ended == LegEnded(f"{ID}.s1", causes.TEMPORARY_FAILURE)
    assert event_from_reply(snoop, Reply(200)) is None


@pytest.mark.parametrize(
    ("status", "continues", "is_voicemail_continued"),
    [(200, True, True), (204, True, True), (409, True, True),
     (404, False, True), (500, False, True), (0, False, False)],
)  # fmt: skip
def test_which_replies_a_command_continues_after(
    status: int, continues: bool, is_voicemail_continued: bool
) -> None:
    """Success, or what is there already; a voicemail after any reply, else its bridge is left."""
    assert continues_after(do.Answer(MAIN), Reply(status)) == continues
    voicemail = do.StartVoicemail(MAIN, "a~v1", 60, 5, "#")
    assert continues_after(voicemail, Reply(status)) == is_voicemail_continued


VOICEMAIL = do.StartVoicemail(MAIN, "a~v1", 60, 5, "*")
DETAILS: list[tuple[do.PbxCommand, list[dict[str, str]]]] = [
    (do.Hangup(MAIN, 17), [{"reason_code": "17"}]),
    (do.Mute(MAIN, "in"), [{"direction": "in"}]),
    (do.Unmute(MAIN, "out"), [{"direction": "out"}]),
    (do.PausePlayback("p"), [{"operation": "pause"}]),
    (do.ResumePlayback("p"), [{"operation": "unpause"}]),
    (do.AddToBridge(f"{ID}.b1", (MAIN, "l1")), [{"type": "mixing"}, {"channel": f"{MAIN},l1"}]),
    (do.RemoveFromBridge(f"{ID}.b1", MAIN), [{"channel": MAIN}]),
    (do.AnswerRefer(MAIN, True), [{"states": "channel_answered"}]),
    (do.AnswerRefer(MAIN, False), [{"states": "channel_declined"}]),
    (do.AnswerRefer(MAIN, True, "in-progress"), [{"states": "channel_progress"}]),
    (do.AnswerRefer(MAIN, False, "unavailable"), [{"states": "channel_unavailable"}]),
    (
        do.Listen(f"{ID}.s1", MAIN, "in"),
        [{"app": "switchroom-0", "spy": "in", "whisper": "none", "appArgs": "called"}],
    ),
    (
        VOICEMAIL,
        [
            {"type": "mixing"},
            {"channel": MAIN},
            {"channel": MAIN},
            {},
            {
                "name": "a~v1",
                "format": "sln",
                "maxDurationSeconds": "61",
                "maxSilenceSeconds": "5",
                "ifExists": "fail",
                "terminateOn": "*",
            },
        ],
    ),
    (
        do.Originate(MAIN, "+4799", "", replaces=do.ReplacedLeg("1.9", "switchroom-5", "a", "b")),
        [
            {
                "endpoint": "Local/s@switchroom-replaces/n",
                "app": "switchroom-0",
                "appArgs": "called",
                "channelId": MAIN,
                "otherChannelId": f"{MAIN}.other",
                "formats": "slin",
            }
        ],
    ),
    (
        do.Originate(MAIN, "+4799", ""),
        [
            {
                "endpoint": "PJSIP/+4799@trunk",
                "app": "switchroom-0",
                "appArgs": "called",
                "channelId": MAIN,
            }
        ],
    ),
]


@pytest.mark.parametrize(("command", "queries"), DETAILS)
def test_what_a_request_says(command: do.PbxCommand, queries: list[dict[str, str]]) -> None:
    """Each parameter counts: Asterisk has defaults of its own."""
    assert [query_of(each) for each in requests_for(command, ENDPOINTS)] == queries


def test_what_may_follow_at_once() -> None:
    """A stop or a mute is followed by another one, or by a prompt; nothing else is."""
    quick = {do.StopPlayback, do.Mute, do.Unmute}
    allowed = {
        (type(one), type(other))
        for one in (*(command for command, _ in LINES), PLAY)
        for other in (*(command for command, _ in LINES), PLAY)
        if may_follow_at_once(one, other)
    }
    assert allowed == {(one, other) for one in quick for other in (*quick, do.Play)}
