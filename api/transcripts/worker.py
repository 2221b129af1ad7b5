"""Transcribes queued recordings, one after another, until cancelled."""

import asyncio
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Self

import structlog
from msgspec import Struct

from api.accounts.store import Account, AccountStore, TranscriptSetting
from api.common.clock import Clock
from api.common.errors import ApiError, NotFound
from api.common.recording_paths import recording_path
from api.engine_client import EngineClient
from api.http.services import CommonServices
from api.jobs.store import LEASE_MS, LeaseLost
from api.jobs.worker import run_with_lease
from api.metrics import Metrics
from api.transcripts.outcomes import AttemptFailed, Postponed, Untranscribable
from api.transcripts.queue import MAX_ATTEMPTS, Claim, TranscriptQueue
from api.transcripts.recognizers import Recognizers
from api.transcripts.recording import Recording, open_recording
from api.transcripts.store import CHANNELS, Channel, TranscriptSegment, TranscriptStore
from wire.decoding.errors import BadInput
from wire.decoding.texts import printable
from wire.streams.recognizer import FinalTranscript, RecognizerStart

POLL_INTERVAL_S = 2.0
BUSY_S = 5.0  # after a recording that no recognizer takes: others would have to wait, too
log = structlog.get_logger()
UTTERANCE_MS = 25_000  # Whisper's window is 30 s


class Transcriber(Struct, frozen=True):
    """Transcribes a recording: each channel in turn, with one stream at a time."""

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
            segments = await self._channel(claim.account_id, recording, channel, setting)
            claim = await self.queue.save_channel(claim, segments)
        await self.queue.finish(claim, recording.format.duration_ms)
        return recording.format.duration_ms * (recording.format.channels - done)

    async def _channel(
        self, account_id: str, recording: Recording, channel: int, setting: TranscriptSetting
    ) -> list[TranscriptSegment]:
        start = RecognizerStart(
            setting.language,
            recording.format.rate,  # type: ignore[arg-type]  # the header's is checked
            setting.hints,
            max_ms=UTTERANCE_MS,
            live=False,
            account=account_id,
        )
        finals = await self.recognizers.recognize(
            setting.recognizer, start, lambda: recording.channel(channel)
        )
        return list(_segments(finals, CHANNELS[channel], recording.format.duration_ms))


class TranscriptWorker:
    def __init__(
        self,
        queue: TranscriptQueue,
        accounts: AccountStore,
        transcriber: Transcriber,
        metrics: Metrics,
        renew_interval_s: float = LEASE_MS / 3_000,
    ) -> None:
        self._queue = queue
        self._accounts = accounts
        self._transcriber = transcriber
        self._metrics = metrics
        self._renew_interval_s = renew_interval_s
        self._name = f"{os.getpid()}-{secrets.token_hex(4)}"

    async def run(self, poll_interval_s: float = POLL_INTERVAL_S) -> None:
        """Transcribe until cancelled; an unavailable database is retried."""
        while True:
            wait_s = poll_interval_s
            try:
                wait_s = await self.once(poll_interval_s)
            except ApiError as error:
                log.warning("transcript poll failed", reason=error.detail)
            except Exception:
                log.exception("transcript poll failed")  # the next poll may succeed
            await asyncio.sleep(wait_s)

    async def once(self, poll_interval_s: float = POLL_INTERVAL_S) -> float:
        """Transcribe the next recording; return how long to wait before the one after it."""
        claim = await self._queue.claim(self._name)
        if claim is None:
            return poll_interval_s
        outcome = "lost"
        try:
            outcome = await self._execute(claim)
        except LeaseLost:  # it was removed, or another process has it
            pass
        except asyncio.CancelledError:
            with suppress(ApiError):
                await self._queue.release(claim)
            raise
        self._metrics.transcripts.labels(outcome).inc()
        return BUSY_S if outcome == "busy" else 0.0

    async def _execute(self, claim: Claim) -> str:
        account = await self._account(claim)
        if account is None or (setting := account.transcripts) is None:
            await self._queue.drop(claim)
            return "dropped"
        if claim.attempts > MAX_ATTEMPTS:
            await self._queue.fail(claim, "interrupted", "each attempt ended with its process")
            return "failed"
        try:
            account.check_transcripts()  # the operator may have changed what it may name
            await self._transcribe(claim, setting)
        except BadInput as error:
            await self._queue.fail(claim, "rejected", str(error))
            return "failed"
        except Postponed as error:
            await self._queue.postpone(claim, error.delay_ms, error.reason, error.detail)
            return "busy" if error.reason == "no_capacity" else "postponed"
        except Untranscribable as error:
            await self._queue.fail(claim, error.reason, error.detail)
            return "failed"
        except AttemptFailed as error:
            log.warning("transcript failed, retrying", recording=claim.path, reason=error.detail)
            await self._queue.retry(claim, error.reason, error.detail)
            return "retried"
        except (LeaseLost, ApiError):
            raise
        except Exception:
            log.exception("transcript failed", recording=claim.path)
            await self._queue.retry(claim, "recognizer_failed", "internal")
            return "retried"
        return "done"

    async def _transcribe(self, claim: Claim, setting: TranscriptSetting) -> None:
        async def renew() -> None:
            await self._queue.renew(claim)

        audio_ms = await run_with_lease(
            self._transcriber.run(claim, setting), renew, self._renew_interval_s
        )
        self._metrics.transcribed_seconds.inc(audio_ms / 1_000)

    async def _account(self, claim: Claim) -> Account | None:
        """Return the account as it is now; the recording may have waited for long."""
        try:
            return await self._accounts.get(claim.account_id)
        except NotFound:
            return None


def _segments(
    finals: Iterable[FinalTranscript], channel: Channel, duration_ms: int
) -> Iterator[TranscriptSegment]:
    for each in finals:
        start_ms = min(max(each.start_ms, 0), duration_ms)
        end_ms = min(max(each.end_ms, start_ms), duration_ms)
        confidence = min(max(each.confidence, 0.0), 1.0)
        if text := printable(each.text):
            yield TranscriptSegment(channel, start_ms, end_ms, text, round(confidence, 3))


class TranscriptSlice(Struct, frozen=True):
    """The transcripts of all accounts; without recognizers there are no workers."""

    store: TranscriptStore
    queue: TranscriptQueue
    transcriber: Transcriber
    workers: tuple[TranscriptWorker, ...]
    metrics: Metrics
    now_ms: Clock

    @classmethod
    def build(cls, common: CommonServices, recognizers: Recognizers) -> Self:
        settings, metrics = common.settings, common.metrics
        queue = TranscriptQueue(common.database, common.now_ms)
        max_ms = settings.transcript_max_minutes * 60_000
        transcriber = Transcriber(common.engine, recognizers, queue, max_ms)
        workers = tuple(
            TranscriptWorker(queue, common.accounts, transcriber, metrics)
            for _ in range(settings.transcript_workers if settings.transcript_recognizers else 0)
        )
        store = TranscriptStore(common.database)
        return cls(store, queue, transcriber, workers, metrics, common.now_ms)

    async def measure(self) -> None:
        """Measure how long the oldest recording has waited."""
        oldest_ms = await self.queue.oldest_ms()
        age_ms = 0 if oldest_ms is None else self.now_ms() - oldest_ms
        self.metrics.transcript_age.set(max(0, age_ms) / 1_000)
