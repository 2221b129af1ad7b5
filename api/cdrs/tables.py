"""Tables of call records: narrow rows with the filtered columns, wide rows with the records.

Every index starts with the account, then its column, time and id: the order of every list. It ends
with the call's signature (`marks`), which checks other filters without reading the row.
"""

import sqlalchemy as sa

from api.db.columns import Key, Millis, Text
from api.db.database import metadata

cdrs = sa.Table(
    "cdrs",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("req_id", Text(96), nullable=False),
    sa.Column("started_ms", Millis, nullable=False),
    sa.Column("client_id", Text(256)),
    sa.Column("caller_id", Text(330), nullable=False),
    sa.Column("to_number", Text(330), nullable=False),
    sa.Column("call_path", Text(256), nullable=False),
    sa.Column("obd_type", Text(256)),
    sa.Column("is_answered", sa.Boolean, nullable=False),
    sa.Column("has_recording", sa.Boolean, nullable=False),  # of the conversation
    sa.Column("has_voicemail", sa.Boolean, nullable=False),
    sa.Column("disposition1", Text(128)),
    sa.Column("disposition2", Text(128)),
    sa.Column("disposition3", Text(128)),
    sa.Column(
        "marks", sa.BigInteger, nullable=False
    ),  # the signature (api/cdrs/query/bloom_marks.py)
)

bodies = sa.Table(
    "cdr_bodies",
    metadata,
    sa.Column("cdr_id", Key, sa.ForeignKey(cdrs.c.id), primary_key=True, autoincrement=False),
    sa.Column("record", sa.LargeBinary, nullable=False),  # wire.events.record.CallRecord, as JSON
)

# One row for each agent of a call, the sum of its legs.
agents = sa.Table(
    "cdr_agents",
    metadata,
    sa.Column("cdr_id", Key, sa.ForeignKey(cdrs.c.id), primary_key=True, autoincrement=False),
    sa.Column("agent_id", Text(64), primary_key=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("agent_name", Text(128), nullable=False),
    sa.Column("started_ms", Millis, nullable=False),
    sa.Column("direction", Text(8), nullable=False),
    sa.Column("is_answered", sa.Boolean, nullable=False),
    sa.Column("ring_ms", Millis, nullable=False),
    sa.Column("talk_ms", Millis, nullable=False),
    sa.Column("hold_ms", Millis, nullable=False),
    sa.Column("marks", sa.BigInteger, nullable=False),  # the call's
    sa.Index("cdr_agents_by_name", "account_id", "agent_name", "started_ms", "cdr_id", "marks"),
    sa.Index("cdr_agents_by_agent", "account_id", "agent_id", "started_ms", "cdr_id", "marks"),
)

# Every number that took part; dialled numbers are `is_dialed`.
numbers = sa.Table(
    "cdr_numbers",
    metadata,
    sa.Column("account_id", Text(64), primary_key=True),
    sa.Column("number", Text(330), primary_key=True),
    sa.Column("started_ms", Millis, primary_key=True),
    sa.Column("cdr_id", Key, sa.ForeignKey(cdrs.c.id), primary_key=True, autoincrement=False),
    sa.Column("is_dialed", sa.Boolean, primary_key=True),
    sa.Column("marks", sa.BigInteger, primary_key=True, autoincrement=False),  # the call's
    sqlite_with_rowid=False,
)

# The calls whose records have digits that callers pressed, or words that they said, in gathers.
digits = sa.Table(
    "cdr_digits",
    metadata,
    sa.Column("account_id", Text(64), primary_key=True),
    sa.Column("started_ms", Millis, primary_key=True, autoincrement=False),
    sa.Column("cdr_id", Key, sa.ForeignKey(cdrs.c.id), primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

clients = sa.Table(
    "cdr_clients",
    metadata,
    sa.Column("account_id", Text(64), primary_key=True),
    sa.Column("client_id", Text(256), primary_key=True),
    sqlite_with_rowid=False,
)

# The events of a call, its timeline; also of calls that have not ended.
events = sa.Table(
    "cdr_events",
    metadata,
    sa.Column("account_id", Text(64), primary_key=True),
    sa.Column("call_id", Text(96), primary_key=True),
    sa.Column("sequence_number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)


def _index(name: str, *keys: str, where: sa.ColumnElement[bool] | None = None) -> None:
    columns = [cdrs.c[key] for key in ("account_id", *keys, "started_ms", "id", "marks")]
    sa.Index(f"cdrs_by_{name}", *columns, sqlite_where=where, postgresql_where=where)


sa.Index("cdrs_by_req_id", cdrs.c.account_id, cdrs.c.req_id, unique=True)
_index("time")
for _name in ("caller_id", "to_number", "call_path", "is_answered"):
    _index(_name, _name)
for _name in ("client_id", "obd_type", "disposition1", "disposition2", "disposition3"):
    _index(_name, _name, where=cdrs.c[_name].is_not(None))
for _name in ("has_recording", "has_voicemail"):
    _has = cdrs.c[_name] == sa.true()
    # The condition is no column: PostgreSQL would drop it from the index condition, and scan to a
    # time instead of seeking to it.
    _index(_name, where=_has)
    # Very few: without an index of their own, a query scans all other missed calls. SQLite prefers
    # it to the index of all missed calls only because of its columns.
    _missed = sa.and_(_has, cdrs.c.is_answered == sa.false())
    _index(f"{_name}_missed", _name, "is_answered", where=_missed)
