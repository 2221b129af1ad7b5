"""All that an engine counts; `rpc.metrics` shows it, docs/operations/metrics.md tells what it says.

One meter an engine, handed to whoever measures. One that nobody looks at is only a few numbers.
"""

from collections.abc import Iterable, Iterator

from engine.observe.tally import Counts, Histograms, Levels

# Seconds. From what one request takes inside a machine to what a caller would call dead air.
QUICK = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SLOW = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
LATE = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1.0, 5.0)
SIZE = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PLACE = ("node", "slot")


class Meter:
    """The families, by what they are about."""

    def __init__(self) -> None:
        self.calls = _Calls()
        self.store = _Store()
        self.nodes = _Nodes()
        self.outside = _Outside()
        self.callbacks = _Callbacks()
        self.readers = _Readers()

    @property
    def families(self) -> Iterator[Counts | Histograms]:
        """All families, in order."""
        parts = (self.calls, self.nodes, self.store, self.outside, self.callbacks, self.readers)
        for part in parts:
            yield from vars(part).values()


class _Calls:
    def __init__(self) -> None:
        self.begun = Counts(
            "switchroom_calls_begun_total", "Calls that began here", *PLACE, "direction"
        )
        self.ended = Counts(
            "switchroom_calls_ended_total",
            "Calls that ended, by how they stood",
            *PLACE, "direction", "status",
        )  # fmt: skip
        self.dropped = Counts(
            "switchroom_calls_dropped_total", "Calls ended by a fault in the engine", *PLACE
        )
        self.given_up = Counts(
            "switchroom_calls_given_up_total", "Calls lost with a node that stayed away", *PLACE
        )
        self.taken_over = Counts(
            "switchroom_calls_taken_over_total", "Calls of other engines that go on here", *PLACE
        )
        self.refused = Counts(
            "switchroom_calls_refused_total",
            "Calls that were not let in, by why",
            "direction", "reason",
        )  # fmt: skip
        self.late = Histograms(
            "switchroom_timer_lateness_seconds",
            "How long after its moment a call's timer fired",
            *PLACE, bounds=LATE,
        )  # fmt: skip


class _Nodes:
    def __init__(self) -> None:
        self.events = Counts("switchroom_events_total", "Events heard, by type", *PLACE, "type")
        self.asked = Histograms(
            "switchroom_ari_request_seconds",
            "How long a node took to answer a call's request",
            *PLACE, "lane", bounds=QUICK,
        )  # fmt: skip
        self.faults = Counts(
            "switchroom_ari_failures_total",
            "Requests that a node did not do, by status; lost: no answer came",
            *PLACE, "status",
        )  # fmt: skip
        self.away = Counts("switchroom_node_away_total", "Times a node was lost sight of", *PLACE)
        self.recovered = Histograms(
            "switchroom_recovery_seconds",
            "From being heard again until all calls went on",
            *PLACE, bounds=SLOW,
        )  # fmt: skip
        self.reaped = Counts(
            "switchroom_reaped_total", "Channels, bridges, calls ended as nobody's", "node"
        )


class _Store:
    def __init__(self) -> None:
        self.commits = Histograms(
            "switchroom_commit_seconds", "How long a commit took", "slot", bounds=QUICK
        )
        self.batches = Histograms(
            "switchroom_commit_changes", "Changes in one commit", "slot", bounds=SIZE
        )
        self.faults = Counts(
            "switchroom_commit_failures_total", "Commits that found the store down", "slot"
        )
        self.slots = Counts(
            "switchroom_slot_changes_total",
            "What became of slots: taken, lost, given_back, paused, restored",
            "slot", "change",
        )  # fmt: skip
        self.takeovers = Histograms(
            "switchroom_takeover_seconds",
            "From a slot's claim until its calls were read",
            "slot", bounds=SLOW,
        )  # fmt: skip


class _Outside:
    def __init__(self) -> None:
        self.webhooks = Histograms(
            "switchroom_webhook_seconds",
            "How long a question to a customer's server took, tries and pauses included",
            *PLACE, "outcome", bounds=SLOW,
        )  # fmt: skip
        self.webhook_faults = Counts(
            "switchroom_webhook_failures_total", "Questions without a usable answer, by why",
            *PLACE, "reason",
        )  # fmt: skip
        self.webhook_retries = Counts(
            "switchroom_webhook_retries_total", "Questions that were asked twice", *PLACE
        )
        self.media = Histograms(
            "switchroom_media_seconds",
            "How long it took to fetch or speak a clip that was not at hand",
            "kind", "outcome", bounds=SLOW,
        )  # fmt: skip
        self.media_faults = Counts(
            "switchroom_media_failures_total", "Clips that could not be made, by why",
            "kind", "reason",
        )  # fmt: skip
        self.rpc = Histograms(
            "switchroom_rpc_request_seconds",
            "How long a request to this engine took, the event stream aside",
            "operation", "status", bounds=QUICK,
        )  # fmt: skip


class _Callbacks:
    def __init__(self) -> None:
        self.handed_over = Histograms(
            "switchroom_callback_handover_seconds",
            "From an event until it is sent for the first time, where nothing was due before",
            "kind", bounds=QUICK,
        )  # fmt: skip
        self.tried = Histograms(
            "switchroom_callback_seconds", "How long one try took", "kind", bounds=SLOW
        )
        self.delivered = Counts(
            "switchroom_callbacks_delivered_total", "Events that have arrived", "kind"
        )
        self.failed = Counts(
            "switchroom_callbacks_failed_total", "Tries that failed, by why", "kind", "reason"
        )
        self.retried = Counts(
            "switchroom_callbacks_retried_total", "Tries that were not an event's first", "kind"
        )
        self.dead = Counts(
            "switchroom_callbacks_dead_total", "Events that were given up, by why", "reason"
        )
        self.waiting = Levels(
            "switchroom_callbacks_waiting_events", "Events that have not arrived yet", "slot"
        )
        self.oldest = Levels(
            "switchroom_callbacks_oldest_seconds",
            "How long the call that has waited longest has had events due",
            "slot",
        )
        self.circuits_open = Levels(
            "switchroom_callback_open_circuits", "Targets that are left alone just now"
        )
        for reason in ("overflow", "circuit_open", "timeout", "gone"):
            self.dead.begin(reason)  # shown from the start, as an alert watches them

    def stands(self, slot: int, waiting: int, oldest_ms: int) -> None:
        """Note how a slot's outbox stands."""
        self.waiting.of()[str(slot)] = waiting
        self.oldest.of()[str(slot)] = oldest_ms // 1000

    def left(self, slot: int) -> None:
        """Tell no more of a slot that is another's."""
        self.waiting.of().pop(str(slot), None)
        self.oldest.of().pop(str(slot), None)


class _Readers:
    def __init__(self) -> None:
        self.lag = Levels(
            "switchroom_event_group_lag_events", "Events not given to a group yet", "group"
        )
        self.pending = Levels(
            "switchroom_event_group_pending_events", "Given, and not acknowledged yet", "group"
        )
        self.lost = Levels(
            "switchroom_event_group_lost_events",
            "Events that a group has lost at most, and does not know of yet",
            "group",
        )

    def stand(self, groups: Iterable[tuple[str, int, int, int]]) -> None:
        """Note how groups stand: each with its lag, what is pending and lost, slot by slot."""
        tables = [level.of() for level in (self.lag, self.pending, self.lost)]
        for table in tables:
            table.clear()
        for group, *numbers in groups:
            for table, number in zip(tables, numbers, strict=True):
                table[group] += number
