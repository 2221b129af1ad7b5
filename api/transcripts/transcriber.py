"""Transcribes a recording: each channel in turn, with one stream to a recognizer at a time."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from api.accounts.store import TranscriptSetting
from api.common.recording_paths import recording_path
from api.engine_client import EngineClient
from api.transcripts.queue import Claim, TranscriptQueue
from api.transcripts.recognizers import Recognizers
from api.transcripts.recording import Recording, open_recording
from api.transcripts.segments import CHANNELS, Channel, TranscriptSegment
from wire.decoding.texts import printable
from wire.streams.recognizer import FinalTranscript, RecognizerStart

UTTERANCE_MS = 25_000  # Whisper's window is 30 s


class Transcriber(Struct, frozen=True):
    engine: EngineClient
    recognizers: Recognizers
    queue: TranscriptQueue
    max_ms: int  # of a recording

    async def run(self, claim: Claim, setting: TranscriptSetting) -> int:
        """Transcribe the channels that are missing, and store the transcript.

        Returns how much audio that was, in milliseconds; raises TranscriptionError or LeaseLost.
        """
        path = recording_path(claim.account_id, *claim.path.split("/", 1))
        claim = claim.with_setting(setting)
        recording = await open_recording(self.engine, path, self.max_ms)
        done = claim.channels_done
        for channel in range(done, recording.format.channels):
            segments = await self._channel(recording, channel, setting)
            claim = await self.queue.save_channel(claim, segments)
        await self.queue.finish(claim, recording.format.duration_ms)
        return recording.format.duration_ms * (recording.format.channels - done)

    async def _channel(
        self, recording: Recording, channel: int, setting: TranscriptSetting
    ) -> list[TranscriptSegment]:
        start = RecognizerStart(
            setting.language,
            recording.format.rate,  # type: ignore[arg-type]  # the header's is checked
            setting.hints,
            max_ms=UTTERANCE_MS,
            live=False,
        )
        finals = await self.recognizers.recognize(
            setting.recognizer, start, lambda: recording.channel(channel)
        )
        return list(_segments(finals, CHANNELS[channel], recording.format.duration_ms))


def _segments(
    finals: Iterable[FinalTranscript], channel: Channel, duration_ms: int
) -> Iterator[TranscriptSegment]:
    for each in finals:
        start_ms = min(max(each.start_ms, 0), duration_ms)
        end_ms = min(max(each.end_ms, start_ms), duration_ms)
        confidence = min(max(each.confidence, 0.0), 1.0)
        if text := printable(each.text):
            yield TranscriptSegment(channel, start_ms, end_ms, text, round(confidence, 3))
