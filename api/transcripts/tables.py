"""The table of transcripts: one row for each recording that is, was or will be transcribed.

The row is the job and its result. What has not ended is in two small indexes: all by turn, and each
account's.
"""

from typing import Literal

import sqlalchemy as sa

from api.db.columns import Key, Millis, Text
from api.db.database import metadata

State = Literal["queued", "running", "done", "failed"]
Reason = Literal[
    "not_archived",  # the recording did not come, or is gone
    "unreadable",
    "too_long",
    "unknown_recognizer",
    "rejected",  # by the recognizer: its language, say; or the account may not name it
    "no_capacity",  # no recognizer had time, or answered, for a day
    "recognizer_failed",  # in each attempt
    "interrupted",  # likewise: the process that transcribed it ended
]

transcripts = sa.Table(
    "transcripts",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("path", Text(160), nullable=False),  # `{day}/{file}` of the recording
    sa.Column("call_id", Text(128), nullable=False),
    sa.Column("state", Text(16), nullable=False),
    sa.Column("reason", Text(32)),  # of the failure, or of the last attempt
    sa.Column("detail", sa.String(512)),
    sa.Column("recognizer", Text(32)),
    sa.Column("language", Text(64)),
    sa.Column("duration_ms", Millis),
    sa.Column("channels_done", sa.Integer, nullable=False),
    sa.Column("segments", sa.LargeBinary),  # of these channels
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("turn", sa.BigInteger, nullable=False),  # as that of jobs: api/jobs/store.py
    sa.Column("due_ms", Millis, nullable=False),  # while it runs: the end of its lease
    sa.Column("owner", Text(64)),
    sa.Column("created_ms", Millis, nullable=False),
    sa.Column("ended_ms", Millis),
    sa.Index("transcripts_by_path", "account_id", "path", unique=True),
    sa.Index("transcripts_by_call", "account_id", "call_id"),
    sqlite_autoincrement=True,
)
is_unfinished = transcripts.c.ended_ms.is_(None)
for _name, _columns in (("turn", ("turn", "due_ms")), ("account_turn", ("account_id", "turn"))):
    sa.Index(
        f"transcripts_by_{_name}",
        *(transcripts.c[each] for each in _columns),
        sqlite_where=is_unfinished,
        postgresql_where=is_unfinished,
    )
