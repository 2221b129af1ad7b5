"""The table of jobs."""

from typing import Literal

from sqlalchemy import JSON, BigInteger, Column, ForeignKey, Index, Integer, String, Table

from api.db.database import metadata

State = Literal["waiting", "running", "done", "failed"]
UNFINISHED: tuple[State, ...] = ("waiting", "running")

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("kind", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("payload", JSON, nullable=False),
    Column("result", JSON),
    Column("error", String(512)),
    Column("done", BigInteger, nullable=False),
    Column("total", BigInteger),
    Column("attempts", Integer, nullable=False),
    Column("turn", BigInteger, nullable=False, server_default="0"),  # see fair_queue.py
    Column("due_ms", BigInteger, nullable=False),  # while it runs: the end of its lease
    Column("owner", String(64)),
    Column("created_ms", BigInteger, nullable=False),
    Column("ended_ms", BigInteger),
    Index("ix_jobs_state_due_ms", "state", "due_ms"),
    Index("ix_jobs_account_id_kind", "account_id", "kind", "created_ms"),
)
