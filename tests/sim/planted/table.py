"""Every planted fault of one engine, with the script in which it shows and what the checks say."""

import re
from collections.abc import Callable

from msgspec import Struct

from engine.ari.generated.events import (
    ChannelDestroyed,
    ChannelDtmfReceived,
    ChannelStateChange,
    PlaybackFinished,
)
from engine.ari.request import Request
from tests.sim.engine_run import PartOverrides
from tests.sim.planted import scripts
from tests.sim.planted.digits import (
    DroppingDtmfListener,
    FastDtmfListener,
    KeylessDtmfListener,
    ShorteningListener,
)
from tests.sim.planted.parts import (
    DoublingListener,
    DroppingListener,
    DuplicatingWriter,
    EarlyWriter,
    ForgingIoRunner,
    IdleIoRunner,
    LivingIoRunner,
    LosingWriter,
    SlowClock,
    StoppedClock,
)
from tests.sim.planted.pbx import DroppingPbx, DuplicatingPbx, Repeated, UnheldPbx
from tests.sim.planted.recordings import DroppingAmi, FirstPartArchiver, LosingArchiver
from tests.sim.planted.script import Script
from tests.sim.planted.streams import (
    DroppingReportListener,
    EndlessStreams,
    ForgetfulListener,
    MisdirectingListener,
)
from wire.streams.reports import BargedIn, Report, SpeechChanged, Transcribed


class Planted(Struct, frozen=True):
    """A fault: the script in which it shows, the broken part, and a pattern of the violation."""

    script: Script
    overrides: PartOverrides
    violation: str


def _matches(method: str, path: str) -> Callable[[Request], bool]:
    return lambda request: request.method == method and bool(re.fullmatch(path, request.path))


def _unlimited(_lines: int) -> int:
    return 1_000_000_000


def _drops(method: str, path: str) -> PartOverrides:
    return PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _matches(method, path)))


def _is_unpause(request: Request) -> bool:
    return ("operation", "unpause") in request.query


def _loses_events(kind: type, every: int) -> PartOverrides:
    return PartOverrides(on_event=lambda on_event: DroppingListener(on_event, kind, every))


def _loses_reports(kind: type[Report]) -> PartOverrides:
    return PartOverrides(reports=lambda listener: DroppingReportListener(listener, kind))


def _loses_action(action: str) -> PartOverrides:
    return PartOverrides(ami=lambda ami: DroppingAmi(ami, action))


STORE = {
    "a commit is lost": Planted(
        scripts.DIAL,
        PartOverrides(writer=lambda writer: LosingWriter(writer, every=10)),
        "its log does not lead to its record",
    ),
    "an event is published twice": Planted(
        scripts.DIAL,
        PartOverrides(writer=lambda writer: DuplicatingWriter(writer, every=5)),
        "published other events than its log has",
    ),
    "commands run before the commit": Planted(
        scripts.CRASH, PartOverrides(writer=EarlyWriter), "its log does not say so"
    ),
}

TIME = {
    "the clock stands": Planted(
        scripts.TIMEOUT, PartOverrides(clock=StoppedClock), "ms after a deadline"
    ),
    "the clock is slow": Planted(
        scripts.TIMEOUT, PartOverrides(clock=SlowClock), "ms after a deadline"
    ),
}

IO = {
    "two bodies have one request id": Planted(
        scripts.WEBHOOK, PartOverrides(io_runner=ForgingIoRunner), "was used for two bodies"
    ),
    "the last webhook is forgotten": Planted(
        scripts.CRASH_AT_END, PartOverrides(io_runner=LivingIoRunner), "was never sent"
    ),
    "I/O commands never finish": Planted(
        scripts.DIAL, PartOverrides(io_runner=IdleIoRunner), "gave up in"
    ),
}

REQUESTS = {
    "music never stops": Planted(
        scripts.DIAL, _drops("DELETE", r"channels/.*/moh"), "music in the conversation"
    ),
    "prompts play twice": Planted(
        scripts.DIAL,
        PartOverrides(
            pbx=lambda pbx: DuplicatingPbx(pbx, _matches("POST", r"channels/.*/play/.*"))
        ),
        "heard twice",
    ),
    "prompts do not play": Planted(
        scripts.DIAL, _drops("POST", r"channels/.*/play/.*"), "was never heard"
    ),
    "legs are not hung up": Planted(
        scripts.DIAL, _drops("DELETE", r"channels/[^/]*"), "should end at .*, but went on"
    ),
    "legs do not join bridges": Planted(
        scripts.DIAL, _drops("POST", r"bridges/.*/addChannel"), "alone in silence"
    ),
    "bridges stay": Planted(
        scripts.DIAL, _drops("DELETE", r"bridges/.*"), "not needed|is left on the PBX"
    ),
    "callers are not answered": Planted(
        scripts.DIAL, _drops("POST", r"channels/.*/answer"), "came in but was not answered"
    ),
    "legs do not rejoin bridges": Planted(
        scripts.DIAL,
        PartOverrides(
            pbx=lambda pbx: DroppingPbx(pbx, Repeated(_matches("POST", r"bridges/.*/addChannel")))
        ),
        "was separated from the others",
    ),
    "legs do not leave bridges": Planted(
        scripts.DIAL, _drops("POST", r"bridges/.*/removeChannel"), "expected LegMedia"
    ),
    "legs are not unmuted": Planted(
        scripts.DIAL, _drops("DELETE", r"channels/.*/mute"), "expected LegMedia.*mute"
    ),
    "held legs hear no music": Planted(
        scripts.DIAL, _drops("POST", r"channels/.*/moh"), "alone in silence"
    ),
    "coach bridges stay": Planted(
        scripts.CONFERENCE, _drops("DELETE", r"bridges/.*\.s\d+b"), "not needed"
    ),
    "snoop channels stay": Planted(
        scripts.CONFERENCE, _drops("DELETE", r"channels/.*\.s\d+"), "not needed"
    ),
}

EVENTS = {
    "ends of prompts are lost": Planted(
        scripts.DIAL, _loses_events(PlaybackFinished, every=2), "ms after its end"
    ),
    "hangups are lost": Planted(
        scripts.DIAL, _loses_events(ChannelDestroyed, every=1), "alone in silence|ms after"
    ),
    "answers are lost": Planted(
        scripts.DIAL, _loses_events(ChannelStateChange, every=3), "answered, but left in silence"
    ),
    "digits are lost": Planted(
        scripts.OUTAGE, _loses_events(ChannelDtmfReceived, every=2), "gathered"
    ),
    "digits are doubled": Planted(
        scripts.DIAL, PartOverrides(on_event=DoublingListener), "gathered"
    ),
    "digits of an outage are lost": Planted(
        scripts.OUTAGE, PartOverrides(dtmf=DroppingDtmfListener), "gathered .* of .*@.* in .* ms"
    ),
    "digits before an outage count twice": Planted(
        scripts.OUTAGE, PartOverrides(dtmf=FastDtmfListener), "gathered .* was pressed"
    ),
}

MENUS = {
    "key-downs are not reported": Planted(
        scripts.MENUS, PartOverrides(dtmf=KeylessDtmfListener), "was down when the gather ended"
    ),
    "key-downs are dated too late": Planted(
        scripts.MENUS, PartOverrides(on_event=ShorteningListener), "was ignored in"
    ),
    "digits typed ahead are lost": Planted(
        scripts.MENUS, _loses_events(ChannelDtmfReceived, every=2), "was ignored in"
    ),
}

RECORDINGS = {
    "recordings do not start": Planted(
        scripts.RECORDING, _loses_action("MixMonitor"), "is not recorded for"
    ),
    "recordings do not stop": Planted(
        scripts.RECORDING,
        _loses_action("StopMixMonitor"),
        "is recorded for|two recordings at once",
    ),
    "pauses are recorded": Planted(
        scripts.RECORDING, _loses_action("MixMonitorMute"), "is recorded while paused for"
    ),
    "recordings are not archived": Planted(
        scripts.RECORDING, PartOverrides(archiver=LosingArchiver), "was archived 0 times"
    ),
    "recordings lack a part": Planted(
        scripts.RECORDING, PartOverrides(archiver=FirstPartArchiver), "was archived 0 times"
    ),
}

SPEECH = {
    "prompts stay paused": Planted(
        scripts.SPEECH,
        PartOverrides(pbx=lambda pbx: DroppingPbx(pbx, _is_unpause)),
        "was paused for",
    ),
    "sounds do not pause prompts": Planted(
        scripts.SPEECH, _loses_reports(BargedIn), "went on when it was to be paused"
    ),
    "transcripts are lost": Planted(
        scripts.SPEECH, _loses_reports(Transcribed), "was understood, but its gather ended by"
    ),
    "transcripts of an outage are lost": Planted(
        scripts.SPEECH_OUTAGE,
        PartOverrides(reports=ForgetfulListener),
        "was understood, but its gather ended by",
    ),
    "holds of an outage are lost": Planted(
        scripts.HOLD_OUTAGE, PartOverrides(pbx=UnheldPbx), "which its call does not know"
    ),
    "transcripts end the next gather": Planted(
        scripts.SPEECH,
        PartOverrides(reports=MisdirectingListener),
        "of which its recognizers know nothing",
    ),
    "utterances are not noticed": Planted(
        scripts.SPEECH, _loses_reports(SpeechChanged), "gave up while the caller spoke"
    ),
    "recognizers hear nobody": Planted(
        scripts.SPEECH, _drops("POST", r"bridges/.*/addChannel"), "no recognizer hears"
    ),
    "recognizers are not ended": Planted(
        scripts.SPEECH, PartOverrides(streams=EndlessStreams), "not needed"
    ),
}

LIMITS = {
    "marks without end": Planted(
        scripts.FLOOD, PartOverrides(max_log_lines=_unlimited), "has a log of"
    ),
    "holds without end": Planted(
        scripts.HOLDS, PartOverrides(max_log_lines=_unlimited), "has a log of"
    ),
}

PLANTED = STORE | TIME | IO | REQUESTS | EVENTS | MENUS | RECORDINGS | SPEECH | LIMITS
