"""What an engine counts of its own work: calls, nodes, the store."""

from engine.observe.metric_types import LATE, PLACE, QUICK, SIZE, SLOW, Counts, Histograms


class Calls:
    """Calls, from their beginning to their end."""

    def __init__(self) -> None:
        self.begun = Counts(
            "switchroom_calls_started_total", "Calls that began here", *PLACE, "direction"
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
            "switchroom_calls_lost_total", "Calls lost with a node that stayed away", *PLACE
        )
        self.taken_over = Counts(
            "switchroom_calls_taken_over_total", "Calls of other engines that go on here", *PLACE
        )
        self.refused = Counts(
            "switchroom_calls_rejected_total",
            "Calls that were not let in, by why",
            "direction", "reason",
        )  # fmt: skip
        self.late = Histograms(
            "switchroom_timer_lateness_seconds",
            "How long after its moment a call's timer fired",
            *PLACE, bounds=LATE,
        )  # fmt: skip


class Nodes:
    """PBX nodes, and what is asked of them."""

    def __init__(self) -> None:
        self.events = Counts("switchroom_events_total", "Events heard, by type", *PLACE, "type")
        self.asked = Histograms(
            "switchroom_ari_request_seconds",
            "How long a node took to answer a call's request",
            *PLACE, "transport", bounds=QUICK,
        )  # fmt: skip
        self.faults = Counts(
            "switchroom_ari_failures_total",
            "Requests that a node did not do, by status; lost: no answer came",
            *PLACE, "status",
        )  # fmt: skip
        self.away = Counts(
            "switchroom_node_disconnects_total", "Times a node was lost sight of", *PLACE
        )
        self.recovered = Histograms(
            "switchroom_recovery_seconds",
            "From being heard again until all calls went on",
            *PLACE, bounds=SLOW,
        )  # fmt: skip
        self.reaped = Counts(
            "switchroom_orphans_removed_total", "Channels, bridges, calls ended as nobody's", "node"
        )


class Store:
    """Commits, and slots that change hands."""

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
            "What became of slots: acquired, lost, released, paused, restored",
            "slot", "change",
        )  # fmt: skip
        self.takeovers = Histograms(
            "switchroom_takeover_seconds",
            "From a slot's claim until its calls were read",
            "slot", bounds=SLOW,
        )  # fmt: skip
