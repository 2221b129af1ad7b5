"""Transcribes queued recordings, one after another, until cancelled."""

import asyncio
import os
import secrets
from contextlib import suppress

import structlog

from api.accounts.store import Account, AccountStore, TranscriptSetting
from api.common.errors import ApiError, NotFound
from api.jobs.store import LEASE_MS, LeaseLost
from api.jobs.worker import run_with_lease
from api.metrics import Metrics
from api.transcripts.outcomes import AttemptFailed, Postponed, Untranscribable
from api.transcripts.queue import MAX_ATTEMPTS, Claim, TranscriptQueue
from api.transcripts.transcriber import Transcriber
from wire.decoding.errors import BadInput

POLL_INTERVAL_S = 2.0
BUSY_S = 5.0  # after a recording that no recognizer takes: others would have to wait, too
log = structlog.get_logger()


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
