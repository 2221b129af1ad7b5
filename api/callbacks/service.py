"""An account's status callbacks: engines make the secrets, keep dead letters, and send events."""

from contextlib import suppress
from typing import Literal

import msgspec
from msgspec import Struct

from api.callbacks.schemas import CallbackState, DeadLetterPage, callback_state, dead_letter
from api.common.clock import Clock
from api.common.errors import NotFound
from api.documents.document import Document, Kind
from api.documents.editor import DocumentEditor
from api.engine_client import EngineClient, id_in_path
from api.http.preconditions import ABSENT, Precondition
from wire.callbacks.account import (
    CallbackTestResult,
    CallbackView,
    DeadLetters,
    PutCallback,
    Resend,
    ResendResult,
)
from wire.callbacks.settings import CallbackChange, CallbackSettings, ChangedCallback
from wire.decoding.messages import decode_message
from wire.documents.versioned import CALLBACK_ID

KIND: Kind = "callback"
Change = Literal["put", "rotate", "remove"]


class CallbackService(Struct, frozen=True):
    documents: DocumentEditor
    engine: EngineClient
    now_ms: Clock

    async def get(self, account_id: str) -> tuple[CallbackState, int]:
        """Return the settings and their version; raises NotFound."""
        document = await self.documents.get(account_id, KIND, CALLBACK_ID)
        settings = _decode(document)
        if settings.is_implicit:
            raise NotFound("this account has no callback settings")
        is_stopped = await self._is_stopped(account_id)
        return callback_state(settings, self.now_ms(), is_stopped=is_stopped), document.version

    async def put(
        self, account_id: str, body: PutCallback, condition: Precondition
    ) -> tuple[CallbackState, int]:
        """Set target and limits; the first time, the secret is shown."""
        return await self._change(account_id, "put", body, condition)

    async def rotate(self, account_id: str, condition: Precondition) -> tuple[CallbackState, int]:
        """Create a new secret and show it; the one before signs for another day."""
        return await self._change(account_id, "rotate", None, condition)

    async def delete(self, account_id: str, condition: Precondition) -> None:
        """Delete target and secrets; raises NotFound."""
        await self._change(account_id, "remove", None, condition)

    async def dead_letters(self, account_id: str, cursor: str) -> DeadLetterPage:
        """Return events that were given up."""
        path, query = f"{_path(account_id)}/dead", {"after": cursor} if cursor else None
        found = await self.engine.request(DeadLetters, "GET", path, query=query)
        next_cursor = found.dead_letters[-1].id if found.more and found.dead_letters else None
        return DeadLetterPage(tuple(map(dead_letter, found.dead_letters)), next_cursor)

    async def resend(self, account_id: str, body: Resend) -> ResendResult:
        """Queue dead letters again; raises Conflict without a target that takes them."""
        return await self.engine.request(ResendResult, "POST", f"{_path(account_id)}/resend", body)

    async def test(self, account_id: str) -> CallbackTestResult:
        """Send a test event; raises Conflict without a target."""
        await self.documents.push(account_id)  # the engine must know the target
        return await self.engine.request(CallbackTestResult, "POST", f"{_path(account_id)}/test")

    async def _change(
        self, account_id: str, change: Change, body: PutCallback | None, condition: Precondition
    ) -> tuple[CallbackState, int]:
        path, drafted = f"{_path(account_id)}/draft", list[ChangedCallback]()

        async def draft(before: Document | None) -> bytes:
            request = CallbackChange(change, _decode(before) if before else None, body)
            found = await self.engine.request(ChangedCallback, "POST", path, request)
            drafted.append(found)
            return msgspec.json.encode(found.settings)

        is_stopped = change == "rotate" and await self._is_stopped(account_id)
        if condition.version == ABSENT:
            condition = await self._where_absent(account_id)
        document = await self.documents.change(account_id, KIND, CALLBACK_ID, draft, condition)
        found = drafted[-1]
        state = callback_state(
            found.settings,
            self.now_ms(),
            is_stopped=is_stopped,
            is_secret_new=found.is_secret_new,
        )
        return state, document.version

    async def _is_stopped(self, account_id: str) -> bool:
        """Return whether engines have stopped the target, which only they know."""
        with suppress(NotFound):  # they do not have the settings yet
            return (await self.engine.request(CallbackView, "GET", _path(account_id))).stopped
        return False

    async def _where_absent(self, account_id: str) -> Precondition:
        # A secret that signs webhooks is stored without settings: `get` finds none then.
        found = (await self.documents.find(account_id, KIND, [CALLBACK_ID])).get(CALLBACK_ID)
        is_implicit = found is not None and _decode(found).is_implicit
        return Precondition(found.version if found and is_implicit else ABSENT)


def _decode(document: Document) -> CallbackSettings:
    return decode_message(document.body, CallbackSettings)


def _path(account_id: str) -> str:
    return f"/callbacks/{id_in_path(account_id)}"
