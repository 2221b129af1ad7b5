"""Hangs up all live calls of accounts."""

import asyncio

import structlog

from engine.runtime.call_service import CallService

log = structlog.get_logger()


class AccountCalls:
    """The live calls of this engine, by account; a call is hung up once."""

    def __init__(self, service: CallService) -> None:
        self._service = service
        self._hung_up: set[str] = set()

    async def hang_up(self, accounts: frozenset[str]) -> None:
        """Hang up all calls of accounts; what fails now is repeated with the next request."""
        live = {call.id for call in self._service.calls() if call.account in accounts}
        self._hung_up &= live
        ids = sorted(live - self._hung_up)
        hangups = (self._service.hang_up(each, "system") for each in ids)
        results = await asyncio.gather(*hangups, return_exceptions=True)
        for call_id, result in zip(ids, results, strict=True):
            if isinstance(result, BaseException):
                log.warning("call of a stopped account not hung up", call_id=call_id)
            else:
                self._hung_up.add(call_id)
