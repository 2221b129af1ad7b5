"""The phones of all accounts in this engine's memory: read once, then change by change."""

from collections.abc import Mapping

import msgspec
import structlog

from engine.runtime.agents.phone_credentials import CredentialStore, PhoneCredentials
from wire.decoding.messages import decode_message

log = structlog.get_logger()


class KnownPhones:
    """Credentials by endpoint name, as of the last `update`.

    Only a deletion removes a phone: one that a store has lost stays known, and keeps its password.
    """

    def __init__(self, credentials: CredentialStore) -> None:
        self.phones: dict[str, PhoneCredentials] = {}
        self._credentials = credentials
        self._bodies: dict[str, bytes] = {}
        self._position = ""

    async def update(self) -> set[str]:
        """Read the changes, and return whose credentials have changed; raises StoreDown."""
        found, self._position = await self._credentials.store.phones.changes(self._position)
        changed = {name for name, body in found.items() if self._bodies.get(name) != body}
        changed |= {name for name, body in found.items() if body is None}
        self._take(changed, found)
        return changed

    def _take(self, changed: set[str], found: Mapping[str, bytes | None]) -> None:
        for name in sorted(changed):
            body = found[name]
            self._bodies.pop(name, None)
            self.phones.pop(name, None)
            if body is None:
                continue
            try:
                credentials = decode_message(body, PhoneCredentials)
            except msgspec.DecodeError as error:  # of another version
                log.warning("invalid credentials", phone=name, error=str(error))
                continue
            self._bodies[name] = body
            self.phones[name] = credentials
