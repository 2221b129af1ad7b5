"""SimRecordings: a PBX's recordings: MixMonitor over AMI, voicemail over ARI; and their files."""

import random
from typing import ClassVar

import msgspec

from engine.ami.client import AmiResponse
from engine.ari.generated.events import RecordingFailed, RecordingFinished
from engine.ari.generated.models import LiveRecording, StoredRecording
from engine.ari.request import Reply
from tests.harness.sim.ari_request import (
    ALREADY_EXISTS,
    CREATED,
    NO_CONTENT,
    NOT_FOUND,
    OK,
    AriRequest,
    Handlers,
)
from tests.harness.sim.model import SimChannel, SimSpan
from tests.harness.sim.talk_detect import SimTalk

MONITOR = "MIXMONITOR_FILENAME"
FAILED = AmiResponse(False, "No such channel")
LATE_MS = 1_500  # delay of Asterisk's own limit
KEY_MS = 80.0  # how long the key is down that ends a message


class SimFile:
    """A recording file; its span on the channel is its time; `terminator` ends a voicemail."""

    __slots__ = ("channel", "is_message", "span", "terminator")

    def __init__(
        self, channel: SimChannel, span: SimSpan, terminator: str = "", *, is_message: bool = False
    ) -> None:
        self.channel = channel
        self.span = span
        self.terminator = terminator
        self.is_message = is_message

    @property
    def is_live(self) -> bool:
        """Return whether recording continues."""
        return self.span.end_ms is None


class SimRecordings(SimTalk):
    """AMI actions and ARI requests about recordings; files survive a restart."""

    own_rng: random.Random  # decides when voicemail callers stop talking

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)  # type: ignore[arg-type]  # the arguments of SimChannels
        self.files: dict[str, SimFile] = {}
        self.all_files: dict[str, SimFile] = {}  # including deleted files
        self._shown: dict[str, str] = {}  # a channel's MIXMONITOR_FILENAME
        self.own_rng = random.Random(0)

    # AMI

    def manage(self, action: str, fields: dict[str, str]) -> AmiResponse:
        """Run an AMI action."""
        channel = self.channels.get(fields["Channel"])
        if channel is None:
            return FAILED
        now = self._clock.at_ms
        match action:
            case "MixMonitor":
                self._start_recording(
                    channel, fields["File"].rpartition("/")[2].removesuffix(".raw")
                )
            case "MixMonitorMute" if fields["State"] == "1" and "recording" in channel.open:
                channel.begin("recording mute", "", now)
            case "MixMonitorMute":
                channel.end("recording mute", now)
            case "StopMixMonitor":
                channel.end("recording", now)
                channel.end("recording mute", now)
        return AmiResponse(True)

    def _start_recording(self, channel: SimChannel, name: str) -> None:
        if "recording" in channel.open:
            self.violations.append((channel.id, "two recordings at once"))
        if name in self.all_files:
            self.violations.append((channel.id, f"{name} is overwritten"))
        self._shown[channel.id] = name
        self._keep(name, SimFile(channel, channel.begin("recording", name, self._clock.at_ms)))

    def _keep(self, name: str, file: SimFile) -> None:
        self.files[name] = self.all_files[name] = file

    def shown(self, channel: SimChannel) -> Reply:
        """Return the file of the channel's current or last MixMonitor."""
        name = self._shown.get(channel.id)
        if name is None:
            return NOT_FOUND
        return Reply(200, msgspec.json.encode({"value": f"/spool/{name}.raw"}))

    # ARI

    def _record(self, request: AriRequest) -> Reply:
        channel, name = self.channels.get(request.target), request.query["name"]
        if channel is None:
            return NOT_FOUND
        if name in self.files:
            return ALREADY_EXISTS
        was_joined = any(span.kind == "bridge" for span in channel.spans)
        if channel.bridge is not None or not (channel.is_inbound or was_joined):
            self._emit(
                RecordingFailed(
                    application=channel.app,
                    timestamp=self._clock.timestamp(),
                    recording=_live(name),
                )
            )
            return CREATED
        span = channel.begin("message", name, self._clock.at_ms)
        file = SimFile(channel, span, request.query.get("terminateOn", ""), is_message=True)
        self._keep(name, file)
        max_ms = int(request.query["maxDurationSeconds"]) * 1000 + LATE_MS
        self._clock.after(max_ms, self._over, self, file)
        self._leave_message(file, int(request.query.get("maxSilenceSeconds", "0")) * 1000)
        return CREATED

    def _leave_message(self, file: SimFile, silence_ms: int) -> None:
        said_ms = self.own_rng.choice((0, 500, 3_000, 9_000)) * self.own_rng.random()
        if silence_ms and self.own_rng.random() < 0.5:
            self._clock.after(said_ms + silence_ms, self._over, self, file)
        elif self.own_rng.random() < 0.5:
            key = self.own_rng.choice("#*5")
            self._clock.after(said_ms, self.starts_key, self, file.channel)
            self._clock.after(said_ms + KEY_MS, self.pressed, self, file.channel, key, KEY_MS)

    def pressed(self, channel: SimChannel, digit: str, held_ms: float) -> bool:
        """Release a key, which may end a voicemail."""
        is_heard = super().pressed(channel, digit, held_ms)
        span = channel.open.get("message")
        if is_heard and span and self.all_files[span.what].terminator == digit:
            self._over(self.all_files[span.what])
        return is_heard

    def _over(self, file: SimFile) -> None:
        channel = file.channel
        if channel.open.get("message") is not file.span:
            return
        channel.end("message", self._clock.at_ms)
        recording = _live(file.span.what)
        self._emit(
            RecordingFinished(
                application=channel.app, timestamp=self._clock.timestamp(), recording=recording
            )
        )

    def _remove_channel(self, channel: SimChannel, cause: int) -> None:
        if span := channel.open.get("message"):
            self._over(self.all_files[span.what])
        super()._remove_channel(channel, cause)

    def _list_files(self, _request: AriRequest) -> Reply:
        stored = [StoredRecording(name=name, format="raw") for name in self.files]
        return Reply(200, msgspec.json.encode(stored))

    def _delete_file(self, request: AriRequest) -> Reply:
        return NO_CONTENT if self.files.pop(request.target, None) else NOT_FOUND

    def _show_live(self, request: AriRequest) -> Reply:
        return OK if self._live_message(request.target) else NOT_FOUND

    def _stop_message(self, request: AriRequest) -> Reply:
        file = self._live_message(request.target)
        if file is None:
            return NOT_FOUND
        self._over(file)
        return NO_CONTENT

    def _live_message(self, name: str) -> SimFile | None:
        file = self.files.get(name)
        return file if file and file.is_message and file.is_live else None

    HANDLERS: ClassVar[Handlers] = {
        **SimTalk.HANDLERS,
        ("POST", "channels", "record"): _record,
        ("GET", "recordings/stored", ""): _list_files,
        ("DELETE", "recordings/stored", ""): _delete_file,
        ("GET", "recordings/live", ""): _show_live,
        ("POST", "recordings/live", "stop"): _stop_message,
    }


def _live(name: str) -> LiveRecording:
    return LiveRecording(name=name, format="sln", target_uri="", state="done")
