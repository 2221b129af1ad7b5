"""Lists, reads and deletes the recordings of an account."""

import hmac
from collections.abc import Iterator, Sequence
from typing import Self

from msgspec import Struct
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from api.accounts.store import AccountStore
from api.auth.principal import Principal
from api.cdrs.query.filters import Filters
from api.cdrs.query.pages import CdrRow, decode_cursor, encode_cursor
from api.cdrs.store import CdrStore
from api.cdrs.views import ABSENT_STATES
from api.common.clock import Clock
from api.common.errors import Conflict, NotFound
from api.common.recording_paths import RecordingPath, path_of_url, recording_path
from api.common.timestamps import format_ms
from api.engine_client import EngineClient
from api.http.routes import no_body
from api.http.services import CommonServices
from api.recordings.schemas import RecordingItem, RecordingPage, RecordingQuery, TranscriptView
from api.transcripts.queue import TranscriptQueue
from api.transcripts.store import States, Transcript, TranscriptStore
from wire.decoding.messages import decode_message
from wire.events.record import CallRecord

FILES = "/srmain/recordings/files"
COPIED_HEADERS = ("Content-Length", "Content-Range", "Accept-Ranges")
BASE = "/media/recordings"


class UrlSigner:
    """Signs addresses of recordings: its holder may listen until it expires.

    A signature is an HMAC of the path and the expiry with a key derived from the token secret. Old
    secrets are still accepted; an address is revoked when its secret is removed.
    """

    def __init__(self, secrets: Sequence[str], lifetime_s: int, now_ms: Clock) -> None:
        self._keys = [hmac.digest(each.encode(), b"recordings", "sha256") for each in secrets]
        self._lifetime_s = lifetime_s
        self._now_ms = now_ms

    def sign(self, path: RecordingPath) -> str:
        """Return an address below that of the REST layer."""
        expires_s = self._now_ms() // 1_000 + self._lifetime_s
        signature = _signature(self._keys[0], path, expires_s)
        return f"{BASE}/{path.text}?expires={expires_s}&signature={signature}"

    def sign_url(self, account_id: str, url: str) -> str:
        """Return the signed address of a recording by its address in a record; else nothing."""
        path = path_of_url(account_id, url)
        return "" if path is None else self.sign(path)

    def check(self, path: RecordingPath, expires_s: int, signature: str) -> None:
        """Raise NotFound for an address that is forged or expired."""
        given = signature.encode()
        is_valid = any(
            hmac.compare_digest(_signature(key, path, expires_s).encode(), given)
            for key in self._keys
        )
        if not is_valid or expires_s * 1_000 <= self._now_ms():
            raise NotFound("no such recording, or its address has expired")


class RecordingTranscripts(Struct, frozen=True):
    """Transcripts of recordings: shown, requested, and removed with their recordings."""

    cdrs: CdrStore
    accounts: AccountStore
    store: TranscriptStore
    queue: TranscriptQueue

    async def get(self, path: RecordingPath) -> TranscriptView:
        """Return a transcript, or how far it is; raises NotFound."""
        found = await self.store.get(path)
        if found is None:
            raise NotFound(
                "this recording has no transcript, and none is being made", "not_transcribed"
            )
        return _view(path, found)

    async def request(self, path: RecordingPath) -> TranscriptView:
        """Queue a recording of an ended call; raises NotFound or Conflict."""
        if (await self.accounts.get(path.account_id)).transcripts is None:
            raise Conflict("the account has no transcripts", "transcripts_off")
        if not await self._exists(path):
            raise NotFound("no recording of an ended call")
        await self.queue.request(path)
        return await self.get(path)

    async def remove(self, path: RecordingPath) -> None:
        await self.store.remove(path)

    async def states(self, user: Principal, call_ids: list[str]) -> States:
        return await self.store.states(user.account_id, call_ids)

    async def _exists(self, path: RecordingPath) -> bool:
        row = await self.cdrs.get(path.account_id, path.call_id)
        if row is None:
            return False
        record = decode_message(row.record, CallRecord)
        return any(
            path_of_url(path.account_id, each.url) == path and each.state not in ABSENT_STATES
            for each in record.recordings
        )


class RecordingService(Struct, frozen=True):
    cdrs: CdrStore
    engine: EngineClient
    signer: UrlSigner
    transcripts: RecordingTranscripts

    @classmethod
    def build(cls, common: CommonServices, signer: UrlSigner) -> Self:
        cdrs = CdrStore(common.database)
        store = TranscriptStore(common.database)
        queue = TranscriptQueue(common.database, common.now_ms)
        transcripts = RecordingTranscripts(cdrs, common.accounts, store, queue)
        return cls(cdrs, common.engine, signer, transcripts)

    async def list(self, user: Principal, query: RecordingQuery) -> RecordingPage:
        """Return the recordings of a page of calls."""
        filters = Filters(
            user.account_id,
            req_id=query.call_id,
            purpose=query.purpose,
            start_ms=query.start_time,
            end_ms=query.end_time,
        )
        after = decode_cursor(query.cursor) if query.cursor else None
        found = await self.cdrs.page(filters, query.limit, after=after)
        shown = found.rows
        states = await self.transcripts.states(user, [row.req_id for row in shown])
        items = tuple(item for row in shown for item in self._items(row, query.purpose, states))
        return RecordingPage(
            items, query.limit, encode_cursor(shown[-1].position) if found.has_more else None
        )

    def file(
        self, user: Principal, account_id: str, day: str, file: str, part: str | None
    ) -> Response:
        """Return the audio of a recording of the caller's account."""
        return RecordingResponse(self.engine, own_path(user, account_id, day, file), part)

    def signed_file(
        self, path: RecordingPath, expires_s: int, signature: str, part: str | None
    ) -> Response:
        """Return the audio at a signed address; raises NotFound."""
        self.signer.check(path, expires_s, signature)
        return RecordingResponse(self.engine, path, part)

    async def delete(self, user: Principal, account_id: str, day: str, file: str) -> None:
        """Delete a recording and its transcript, and mark it as deleted in its record."""
        path = own_path(user, account_id, day, file)
        await self.transcripts.remove(path)
        try:
            await self.engine.request_raw("DELETE", f"/recordings/{path.text}")
        except NotFound:  # perhaps deleted by a request that could not mark it any more
            await self.cdrs.mark_recording_deleted(user.account_id, path.call_id, path.text)
            raise
        await self.cdrs.mark_recording_deleted(user.account_id, path.call_id, path.text)

    def _items(self, row: CdrRow, purpose: str, states: States) -> Iterator[RecordingItem]:
        record = decode_message(row.record, CallRecord)
        for each in record.recordings:
            path = path_of_url(record.account_id, each.url)
            if path is not None and each.purpose == purpose and each.state not in ABSENT_STATES:
                yield RecordingItem(
                    record.call_id,
                    each.purpose,
                    format_ms(record.created_ms),
                    each.duration_ms,
                    f"{FILES}/{path.text}",
                    self.signer.sign(path),
                    states.get(path.below_account),
                )


class RecordingResponse(Response):
    """A recording that an engine sends, passed on piece by piece."""

    def __init__(self, engine: EngineClient, path: RecordingPath, part: str | None) -> None:
        super().__init__()
        self._engine = engine
        self._path = path
        self._part = {"Range": part} if part else {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, for HEAD without a body; an engine's error is raised before anything is sent."""
        # RFC 9110, section 14.2: only GET has parts.
        part = self._part if scope["method"] == "GET" else {}
        async with self._engine.open(f"/recordings/{self._path.text}", {}, part) as reply:
            headers = {
                name: reply.headers[name] for name in COPIED_HEADERS if name in reply.headers
            }
            headers |= {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}
            pieces = no_body() if scope["method"] == "HEAD" else reply.content.iter_any()
            body = StreamingResponse(pieces, reply.status, headers, media_type="audio/wav")
            await body(scope, receive, send)


def own_path(user: Principal, account_id: str, day: str, file: str) -> RecordingPath:
    """Return the path of a recording of the caller's account; raises NotFound."""
    if account_id != user.account_id:
        raise NotFound("no such recording")
    return recording_path(account_id, day, file)


def _view(path: RecordingPath, found: Transcript) -> TranscriptView:
    has_failed = found.state == "failed"
    return TranscriptView(
        call_id=path.call_id,
        state=found.state,
        reason=found.reason if has_failed else None,
        detail=found.detail if has_failed else None,
        recognizer=found.recognizer,
        language=found.language,
        duration_ms=found.duration_ms,
        created_time=format_ms(found.created_ms),
        ended_time=format_ms(found.ended_ms) if found.ended_ms else None,
        segments=found.segments,
    )


def _signature(key: bytes, path: RecordingPath, expires_s: int) -> str:
    return hmac.digest(key, f"{path.text}\n{expires_s}".encode(), "sha256").hex()
