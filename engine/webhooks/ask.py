"""Asking a customer's server what a call does next (design section 7)."""

import asyncio
from collections.abc import Callable, Mapping

from aiohttp import ClientError, ClientSession, ClientTimeout
from msgspec import Struct

from engine.webhooks.answer import read_action
from engine.webhooks.failure import Attempt, Fault, WebhookFailed, fault_of
from engine.webhooks.retry import pause_s
from engine.webhooks.sign import Signer
from wire.tree import Limits
from wire.verbs import Action


class Patience(Struct, frozen=True):
    """How long to wait for a server: until connected, and in all with the one retry."""

    connect_s: float = 5.0
    total_s: float = 15.0


class Answer(Struct, frozen=True):
    """What to run next (None: nothing more, go on), and what it took to learn it."""

    action: Action | None
    attempts: tuple[Attempt, ...]


class Asker:
    """Asks by POST, at most twice, with the same id; the session guards addresses and its numbers.

    `clock` gives wall-clock seconds, `random` numbers within 0..1, `trace` headers that name the
    span under which it is asked.
    """

    def __init__(  # noqa: PLR0913  collaborators are passed in
        self,
        session: ClientSession,
        limits: Limits,
        signer: Signer,
        clock: Callable[[], float],
        random: Callable[[], float],
        *,
        patience: Patience = Patience(),  # noqa: B008  frozen
        trace: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._session = session
        self._limits = limits
        self._signer = signer
        self._clock = clock
        self._random = random
        self._patience = patience
        self._trace = trace
        connect_s = patience.connect_s
        self._timeout = ClientTimeout(sock_connect=connect_s)

    async def ask(self, url: str, body: bytes, request_id: str) -> Answer:
        """Ask for the next action; raises WebhookFailed when none that can be run came in time."""
        attempts: list[Attempt] = []
        try:
            async with asyncio.timeout(self._patience.total_s) as limit:
                action = await self._asked(url, body, request_id, attempts, limit)
        except TimeoutError:
            text = f"no answer in {self._patience.total_s} s"
            raise WebhookFailed("timeout", text, tuple(attempts)) from None
        except Fault as fault:
            raise WebhookFailed(fault.reason, fault.detail, tuple(attempts)) from None
        return Answer(action, tuple(attempts))

    async def _asked(
        self,
        url: str,
        body: bytes,
        request_id: str,
        attempts: list[Attempt],
        limit: asyncio.Timeout,
    ) -> Action | None:
        try:
            return await self._try(url, body, request_id, attempts)
        except Fault as fault:
            wait_s = pause_s(fault.retry_after, self._clock(), self._random())
            if not (fault.is_passing and _fits(wait_s, limit)):
                raise
        await asyncio.sleep(wait_s)
        return await self._try(url, body, request_id, attempts)

    async def _try(
        self, url: str, body: bytes, request_id: str, attempts: list[Attempt]
    ) -> Action | None:
        began_s = asyncio.get_running_loop().time()
        status, reason = 0, "timeout"  # unless it ends in another way
        try:
            async with self._session.post(
                url,
                data=body,
                headers=self._headers(request_id, body),
                timeout=self._timeout,
                allow_redirects=False,
                auto_decompress=False,
            ) as response:
                status = response.status
                action = await read_action(response, self._limits)
            reason = ""
        except (ClientError, ValueError) as error:
            fault = fault_of(error)
            reason = fault.reason
            raise fault from None
        except Fault as fault:
            reason = fault.reason
            raise
        finally:
            took_s = asyncio.get_running_loop().time() - began_s
            attempts.append(Attempt(round(took_s * 1000), status, reason))
        return action

    def _headers(self, request_id: str, body: bytes) -> dict[str, str]:
        return {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Idempotency-Key": request_id,
            **self._trace(),
            **self._signer.headers(request_id, self._clock(), body),
        }


def _fits(wait_s: float, limit: asyncio.Timeout) -> bool:
    ends_s = limit.when()
    return ends_s is None or asyncio.get_running_loop().time() + wait_s < ends_s
