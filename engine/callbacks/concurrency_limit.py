"""How many deliveries an engine makes at once, over all targets, and which target is next."""

from collections import OrderedDict
from collections.abc import Mapping

from engine.callbacks.target_queue import TargetQueue

MAX_IN_FLIGHT = 1_000
UNPROVEN_SHARE = 0.5  # of the limit, for targets whose last attempt did not succeed
ACCOUNT_SHARE = 0.25  # of the limit, for the targets of one account


class ConcurrencyLimit:
    """Lets targets start deliveries in turn, while the limit allows one.

    Unproven targets, which have not answered yet or failed last, have half of the limit at most:
    thousands of targets that are down leave the other half to those that answer. The targets of an
    account have a quarter at most, however slowly they answer.
    """

    def __init__(self, max_in_flight: int = MAX_IN_FLIGHT) -> None:
        self._max_in_flight = max_in_flight
        self._max_unproven = max(1, int(max_in_flight * UNPROVEN_SHARE))
        self._max_of_account = max(1, int(max_in_flight * ACCOUNT_SHARE))
        self._in_flight = 0
        self._unproven_in_flight = 0
        self._in_flight_of: dict[str, int] = {}
        self._proven = _Line()
        self._unproven = _Line()
        self._was_proven = False  # the target that was next last time

    def add(self, target: TargetQueue) -> None:
        """Put a target in line; if its last attempt changed its kind, in the other line."""
        line, other = self._proven, self._unproven
        if not target.is_proven:
            line, other = other, line
        if other.accounts:
            other.remove(target)
        line.add(target)

    def next_target(self) -> TargetQueue | None:
        """Remove and return the next target that may start a delivery, if any; kinds alternate."""
        if self._in_flight >= self._max_in_flight:
            return None
        lines = (self._proven, self._unproven)
        for line in lines[::-1] if self._was_proven else lines:
            if not line.accounts or (line is self._unproven and not self._allows_unproven()):
                continue
            target = line.take(self._in_flight_of, self._max_of_account)
            if target is not None:
                self._was_proven = line is self._proven
                return target
        return None

    def record_start(self, account: str, *, is_proven: bool) -> None:
        """Count a delivery that starts."""
        self._in_flight += 1
        self._unproven_in_flight += not is_proven
        self._in_flight_of[account] = self._in_flight_of.get(account, 0) + 1

    def record_end(self, account: str, *, was_proven: bool) -> None:
        """Count a delivery that has ended, as it was counted at its start."""
        self._in_flight -= 1
        self._unproven_in_flight -= not was_proven
        left = self._in_flight_of.pop(account) - 1
        if left:
            self._in_flight_of[account] = left

    def _allows_unproven(self) -> bool:
        return self._unproven_in_flight < self._max_unproven


class _Line:
    """Targets that wait, each once: accounts take turns, and so do the targets of an account."""

    def __init__(self) -> None:
        self.accounts = OrderedDict[str, OrderedDict[TargetQueue, None]]()

    def add(self, target: TargetQueue) -> None:
        targets = self.accounts.get(target.account)
        if targets is None:
            targets = self.accounts[target.account] = OrderedDict()
        targets[target] = None

    def remove(self, target: TargetQueue) -> None:
        targets = self.accounts.get(target.account)
        if targets is not None:
            targets.pop(target, None)
            if not targets:
                del self.accounts[target.account]

    def take(self, in_flight: Mapping[str, int], max_in_flight: int) -> TargetQueue | None:
        """Remove and return the next target of an account with fewer deliveries in flight."""
        # It passes few accounts, because few can have all of their share in flight at once.
        for account, targets in self.accounts.items():
            if in_flight.get(account, 0) < max_in_flight:
                target, _ = targets.popitem(last=False)
                if targets:
                    self.accounts.move_to_end(account)
                else:
                    del self.accounts[account]
                return target
        return None
