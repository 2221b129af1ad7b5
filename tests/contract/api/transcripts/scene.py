"""Calls that end with recordings in the archive, and an account that has them transcribed."""

import asyncio
import io
import wave
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import numpy as np
import sqlalchemy as sa
from pydantic import SecretStr

from api.accounts.cache import AccountCache
from api.accounts.store import TranscriptSetting
from api.cdrs.event_consumer import EventConsumer, Transcription
from api.transcripts.store import is_unfinished, transcripts
from tests.harness.api.cdrs.records import events_of, record
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.api.transcripts.simulated_recognizer import TOKEN, SimulatedRecognizer
from tests.harness.rpc.scene import RpcScene
from tests.harness.shards import at
from wire.events.record import CallRecord, RecordingRecord

DAY = "2026-11-21"
FILES = "/srmain/recordings/files"


def path_of(number: int, suffix: str = "", account: str = "acme") -> str:
    return f"{account}/{DAY}/0-pbx1-call{number:08}{suffix}.wav"


def wav(*channels: bytes, rate: int = 8_000) -> bytes:
    """Return a file of these channels, the shorter ones padded with silence."""
    longest = max(map(len, channels))
    samples = [np.frombuffer(each.ljust(longest, b"\0"), "<i2") for each in channels]
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.stack(samples, axis=1).tobytes())
    return written.getvalue()


def recorded(
    number: int,
    state: str = "archived",
    *,
    suffix: str = "",
    account: str = "acme",
    **more: Any,
) -> CallRecord:
    """Return the record of a call with one recording."""
    url = f"s3://bucket/{path_of(number, suffix, account)}"
    purpose = "voicemail" if suffix else "call"
    recordings = (RecordingRecord(url, purpose, state, 9_000),)
    return record(number, account_id=account, recordings=recordings, **more)


class TranscriptScene:
    """A REST layer whose account `acme` has transcripts."""

    def __init__(self, rest: Rest, clock: ManualClock) -> None:
        self.rest = rest
        self.clock = clock
        services = rest.services
        self.database = services.database
        self.queue = services.transcripts.queue
        self.transcriber = services.transcripts.transcriber
        self.worker = services.transcripts.workers[0]
        accounts = AccountCache(services.accounts, clock)
        self._consumer = EventConsumer(
            services.engine,
            services.database,
            "api1",
            transcription=Transcription(accounts.has_transcripts, self.queue),
        )

    async def set(self, setting: TranscriptSetting | None, account: str = "acme") -> None:
        """Set who transcribes an account's recordings."""
        await self.limit(account, transcripts=setting)

    async def limit(self, account: str = "acme", **settings: Any) -> None:
        """Change an account."""
        accounts = self.rest.services.accounts
        await accounts.change(msgspec.structs.replace(await accounts.get(account), **settings))
        self.clock.now += 10_000  # accounts are cached

    async def archive(self, path: str, audio: bytes) -> None:
        await self.rest.scene.archive.put(path, io.BytesIO(audio))

    async def end(self, *calls: CallRecord) -> None:
        """Let calls end: their events reach the REST layer."""
        bodies = [msgspec.json.encode(event) for each in calls for event in events_of(each)]
        self.rest.scene.store.stream.append(at(0), bodies)
        while await self._consumer.once(0):
            pass

    async def work(self) -> None:
        """Transcribe everything that is due."""
        due = sa.select(sa.func.count()).where(
            is_unfinished, transcripts.c.due_ms <= self.clock.now
        )
        while await self.database.scalar(due):
            await self.worker.once()

    @asynccontextmanager
    async def transcribing(self, simulated: SimulatedRecognizer) -> AsyncIterator[None]:
        """Let the recognizer hear the next recording, and end it with the context."""
        simulated.mode = "late"
        working = asyncio.create_task(self.worker.once())
        await simulated.is_hearing.wait()
        yield
        simulated.may_end.set()
        await working

    async def transcript(self, path: str, token: str | None = None) -> dict[str, Any]:
        """Return the response to a request for a transcript."""
        answer = await self.rest.request("GET", f"{FILES}/{path}/transcript", token=token)
        found: dict[str, Any] = answer.json()
        return found

    async def delete(self, path: str) -> int:
        """Delete a recording as the account's owner; return the status."""
        owner = await self.rest.owner()
        return (await self.rest.request("DELETE", f"{FILES}/{path}", token=owner)).status_code

    async def state(self, number: int = 1) -> tuple[str, str | None]:
        """Return the state of a call's transcript, and the reason of its failure."""
        found = await self.transcript(path_of(number))
        return str(found.get("state", found.get("code"))), found.get("reason")


@asynccontextmanager
async def transcript_scene_with(
    database_url: str,
    scene: RpcScene,
    *addresses: str,
    token: str = TOKEN,
    recognizer: str = "double",
    **more: Any,
) -> AsyncIterator[TranscriptScene]:
    """Run the REST layer with recognizers at these addresses."""
    settings = settings_for(
        database_url,
        scene.url,
        transcript_recognizers=addresses,
        speech_token=SecretStr(token),
        **more,
    )
    clock = ManualClock()
    async with run_rest(settings, scene, clock) as rest:
        rest.token = rest.credentials["acme"].api_key  # tests let hours pass
        transcript_scene = TranscriptScene(rest, clock)
        await transcript_scene.set(TranscriptSetting(recognizer))
        yield transcript_scene
