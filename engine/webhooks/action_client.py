"""Fetches a call's next action from a customer's server (docs/reference/verbs.md)."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from engine.webhooks.errors import Attempt
from engine.webhooks.http_client import (
    ListenerLookup,
    OutgoingRequest,
    SessionLookup,
    WebhookSender,
    no_listener,
)
from engine.webhooks.log.exchange import NO_LOG, AttemptLog, Subject
from engine.webhooks.response import read_action
from engine.webhooks.signatures import Signer, SignerLookup
from wire.tree import Limits
from wire.verbs import Action
from wire.webhook_log import AttemptKind


class ActionTimeouts(Struct, frozen=True):
    """Time limits: to connect, and in total with the one retry."""

    connect_s: float = 5.0
    total_s: float = 15.0


DEFAULT_TIMEOUTS = ActionTimeouts()
_GATHER_EVENT = b'"event":"gather"'  # in the body of a gather's result


class ActionResponse(Struct, frozen=True):
    """The next action (None: nothing to add) and the attempts made."""

    action: Action | None
    attempts: tuple[Attempt, ...]


class ActionClient:
    """Sends a POST, at most twice, with the same id; the sessions guard addresses.

    `clock` returns wall-clock seconds, `random` numbers within 0..1, `trace` the headers that name
    the current span.
    """

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        session_of: SessionLookup,
        limits: Limits,
        signer_of: SignerLookup,
        clock: Callable[[], float],
        random: Callable[[], float],
        *,
        timeouts: ActionTimeouts = DEFAULT_TIMEOUTS,
        trace: Callable[[], Mapping[str, str]] = dict,
        listener_of: ListenerLookup = no_listener,
        log: AttemptLog = NO_LOG,
    ) -> None:
        self._sender = WebhookSender(session_of, clock, random, timeouts.connect_s, log)
        self._limits = limits
        self._signer_of = signer_of
        self._clock = clock
        self._timeouts = timeouts
        self._trace = trace
        self._listener_of = listener_of

    async def ask(
        self, account: str, url: str, body: bytes, request_id: str, sensitive: str = ""
    ) -> ActionResponse:
        """Fetch the next action; raises WebhookFailed without a valid one in time.

        `sensitive` are digits in the body, which reach the address only: no log, and no listener,
        whose requests are in the store.
        """
        signer = await self._signer_of(account)
        listener_of = no_listener if sensitive else self._listener_of
        listener = partial(listener_of, account, request_id)
        headers = partial(self._headers, signer, request_id, body, url)
        kind: AttemptKind = "gather" if _GATHER_EVENT in body else "action"
        subject = Subject(account, kind, request_id, sensitive=sensitive)
        request = OutgoingRequest("POST", url, headers, subject, body, listener)
        read = partial(read_action, limits=self._limits)
        action, attempts = await self._sender.send(request, read, self._timeouts.total_s)
        return ActionResponse(action, attempts)

    def _headers(self, signer: Signer, request_id: str, body: bytes, url: str) -> dict[str, str]:
        return {
            **action_headers(request_id),
            **self._trace(),
            **signer.headers(request_id, self._clock(), body, url),
        }


def action_headers(request_id: str) -> dict[str, str]:
    """Return the headers of a request for an action, without signature."""
    return {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Idempotency-Key": request_id,
    }
