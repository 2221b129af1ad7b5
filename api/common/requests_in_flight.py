"""Counts the requests of each account that this process works on."""

from collections import Counter


class RequestsInFlight:
    """Limits requests in flight for each account; each `begin` needs an `end`."""

    def __init__(self, max_of_account: int) -> None:
        self._max_of_account = max_of_account
        self._counts: Counter[str] = Counter()

    def begin(self, account_id: str) -> bool:
        """Count a request; False if the account has too many."""
        if self._counts[account_id] >= self._max_of_account:
            return False
        self._counts[account_id] += 1
        return True

    def end(self, account_id: str) -> None:
        self._counts[account_id] -= 1
        if not self._counts[account_id]:
            del self._counts[account_id]
