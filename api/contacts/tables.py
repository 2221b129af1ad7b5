"""Tables of contact lists, their contacts, and the files that they are imported from.

A contact's names and e-mail address are stored twice: as written, and as search keys
(`search_keys.py`), cut to what an index can hold. Ids are never reused, even after a delete.
"""

import sqlalchemy as sa

from api.accounts.store import accounts
from api.db.columns import Key, Millis, Text
from api.db.database import metadata
from api.jobs.store import jobs

lists = sa.Table(
    "contact_lists",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.ForeignKey(accounts.c.id), nullable=False),
    sa.Column("name", Text(256), nullable=False),
    sa.Column("name_key", Text(768), nullable=False),
    sa.Column("description", Text(2_000), nullable=False),
    sa.Column("status", Text(16), nullable=False),
    sa.Column("is_default", sa.Boolean, nullable=False),  # at most one of an account
    sa.Column("is_active", sa.Boolean, nullable=False),
    sa.Column("is_deleted", sa.Boolean, nullable=False),  # its contacts are being deleted
    sa.Column("assigned_fields", sa.JSON, nullable=False),
    sa.Column("additional_fields", sa.JSON, nullable=False),
    sa.Column(
        "contacts", sa.BigInteger, nullable=False
    ),  # their number; every insert and delete updates it
    # Of its contacts' texts and tags; triggers count them (migration 0001).
    sa.Column("bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("created_ms", Millis, nullable=False),
    sa.Column("updated_ms", Millis, nullable=False),
    sa.Index("contact_lists_by_account", "account_id", "id"),
    sqlite_autoincrement=True,
)
_default = sa.and_(lists.c.is_default, sa.not_(lists.c.is_deleted))
sa.Index(
    "contact_lists_default",
    lists.c.account_id,
    unique=True,
    sqlite_where=_default,
    postgresql_where=_default,
)

list_tags = sa.Table(
    "contact_list_tags",
    metadata,
    sa.Column("list_id", sa.ForeignKey(lists.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("tag_id", Text(64), primary_key=True),
    sqlite_with_rowid=False,
)

contacts = sa.Table(
    "contacts",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("list_id", sa.ForeignKey(lists.c.id), nullable=False),
    sa.Column("phone_number", Text(16), nullable=False),  # E.164; unique in a list
    sa.Column("f_name", Text(128)),
    sa.Column("l_name", Text(128)),
    sa.Column("email", Text(254)),
    sa.Column("f_name_key", Text(128)),
    sa.Column("l_name_key", Text(128)),
    sa.Column("email_key", Text(128)),
    sa.Column("fields", sa.Text),  # the list's assigned fields, as JSON
    sa.Column("call_status", Text(64)),
    sa.Column("add_to_running_campaign", sa.Boolean, nullable=False),
    sa.Column("created_ms", Millis, nullable=False),
    sa.Column("updated_ms", Millis, nullable=False),
    sa.Index("contacts_by_list_number", "list_id", "phone_number", unique=True),
    sa.Index("contacts_by_list", "list_id", "id"),
    sa.Index("contacts_by_account", "account_id", "id"),
    sa.Index("contacts_by_number", "account_id", "phone_number", "list_id", "id"),
    sqlite_autoincrement=True,
)
# Each name index has the other name, too: a search for both reads no row.
for _key, *_more in (("f_name_key", "l_name_key"), ("l_name_key", "f_name_key"), ("email_key",)):
    _has = contacts.c[_key].is_not(None)
    sa.Index(
        f"contacts_by_{_key}",
        *(contacts.c[each] for each in ("account_id", _key, *_more, "list_id", "id")),
        sqlite_where=_has,
        postgresql_where=_has,
    )

contact_tags = sa.Table(
    "contact_tags",
    metadata,
    sa.Column("list_id", Key, primary_key=True, autoincrement=False),
    sa.Column("tag_id", Text(64), primary_key=True),
    sa.Column("contact_id", sa.ForeignKey(contacts.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Index("contact_tags_by_contact", "contact_id", "tag_id"),
    sqlite_with_rowid=False,
)

# The file of a list; one without a list is being uploaded. The sample is its first rows.
files = sa.Table(
    "contact_files",
    metadata,
    sa.Column("id", Key, primary_key=True, autoincrement=True),
    sa.Column("account_id", Text(64), nullable=False),
    sa.Column("list_id", sa.ForeignKey(lists.c.id), unique=True),
    sa.Column("name", Text(255), nullable=False),
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),  # an upper bound, without the header
    sa.Column("kind", Text(8), nullable=False),
    sa.Column("encoding", Text(32)),
    sa.Column("delimiter", Text(1)),
    sa.Column("header_row", sa.Integer, nullable=False, server_default="1"),
    sa.Column("headers", sa.JSON, nullable=False),
    sa.Column("sample", sa.JSON, nullable=False),
    sa.Column("mappings", sa.JSON),
    sa.Column("uploaded_ms", Millis, nullable=False),
    sqlite_autoincrement=True,
)

file_parts = sa.Table(
    "contact_file_parts",
    metadata,
    sa.Column("file_id", sa.ForeignKey(files.c.id, ondelete="CASCADE"), primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

# The import of a list's file: its progress and results, committed with each batch of rows.
imports = sa.Table(
    "contact_imports",
    metadata,
    sa.Column("job_id", sa.ForeignKey(jobs.c.id), primary_key=True),
    sa.Column("list_id", sa.ForeignKey(lists.c.id, ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("action", Text(8), nullable=False),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("added", sa.BigInteger, nullable=False),
    sa.Column("updated", sa.BigInteger, nullable=False),
    sa.Column("skipped", sa.BigInteger, nullable=False),
    sa.Column("rejected", sa.BigInteger, nullable=False),
    # Of the rejected rows that are kept.
    sa.Column("rejected_bytes", sa.BigInteger, nullable=False, server_default="0"),
    sa.Column("started_ms", Millis, nullable=False),
)

rejects = sa.Table(
    "contact_rejects",
    metadata,
    sa.Column("job_id", sa.ForeignKey(imports.c.job_id, ondelete="CASCADE"), primary_key=True),
    sa.Column("line", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("reason", Text(256), nullable=False),
    sa.Column("cells", sa.Text, nullable=False),  # as CSV, with formulas escaped
)
