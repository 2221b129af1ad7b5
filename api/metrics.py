"""Prometheus metrics of this process."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

BUCKETS_S = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15)


class Metrics:
    """The metrics, in a registry of their own."""

    def __init__(self) -> None:
        # Without it, each counter has a second series, which nothing reads.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no annotations
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        self.requests = Histogram(
            "switchroom_api_request_seconds",
            "How long requests take",
            ("method", "route", "status"),
            buckets=BUCKETS_S,
            registry=self.registry,
        )
        self.audit_failures = Counter(
            "switchroom_api_audit_failures",
            "Attempts to write the audit trail that failed, and entries that were dropped",
            registry=self.registry,
        )
        self.document_differences = Gauge(
            "switchroom_api_document_differences",
            "Kinds of accounts' documents that the engines' store has otherwise than the database",
            registry=self.registry,
        )
        self.dnc_not_in_force = Gauge(
            "switchroom_api_dnc_entries_not_in_force",
            "Do-not-call entries that engines do not have, or refuse",
            ("reason",),
            registry=self.registry,
        )
        self.dial_policies_refused = Gauge(
            "switchroom_api_dial_policies_refused",
            "Accounts whose dial policy engines refuse",
            registry=self.registry,
        )
        self.database_up = Gauge(
            "switchroom_api_database_up",
            "1: the database answers",
            registry=self.registry,
        )
        self.job_age = Gauge(
            "switchroom_api_job_age_seconds",
            "Age of the oldest background job that has not ended",
            ("kind",),
            registry=self.registry,
        )
        self.jobs = Counter(
            "switchroom_api_jobs",
            "Background jobs that ended, or are tried again",
            ("kind", "outcome"),
            registry=self.registry,
        )
        self.phone_websockets = Gauge(
            "switchroom_api_phone_websockets",
            "Websockets of phones in browsers",
            ("node",),
            registry=self.registry,
        )
        self.phone_websockets_refused = Counter(
            "switchroom_api_phone_websockets_refused",
            "Websockets of phones in browsers that were not opened",
            ("reason",),
            registry=self.registry,
        )
        self.transcripts = Counter(
            "switchroom_api_transcripts",
            "Recordings that were taken from the queue of transcripts",
            ("outcome",),
            registry=self.registry,
        )
        self.transcribed_seconds = Counter(
            "switchroom_api_transcribed_seconds",
            "Audio that was transcribed, of all channels",
            registry=self.registry,
        )
        self.transcript_age = Gauge(
            "switchroom_api_transcript_age_seconds",
            "Age of the oldest recording that waits for its transcript",
            registry=self.registry,
        )
