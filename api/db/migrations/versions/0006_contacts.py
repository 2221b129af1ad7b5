"""Contact lists, the contacts in them, and the files that they came from."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def text(length: int) -> sa.types.TypeEngine[str]:
    """Give a text that is compared byte by byte."""
    return sa.String(length).with_variant(sa.String(length, collation="C"), "postgresql")


def upgrade() -> None:
    """Make the tables and their indexes."""
    op.add_column("accounts", sa.Column("region", sa.String(2)))
    _lists()
    _contacts()
    _tags()
    _files()
    _imports()
    _downloads()
    _indexes()


def _lists() -> None:
    op.create_table(
        "contact_lists",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", sa.String(64), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", text(256), nullable=False),
        sa.Column("name_key", text(768), nullable=False),
        sa.Column("description", text(2_000), nullable=False),
        sa.Column("status", text(16), nullable=False),
        sa.Column("is_default", sa.Boolean, nullable=False),
        sa.Column("is_active", sa.Boolean, nullable=False),
        sa.Column("is_deleted", sa.Boolean, nullable=False),
        sa.Column("assigned_fields", sa.JSON, nullable=False),
        sa.Column("additional_fields", sa.JSON, nullable=False),
        sa.Column("contacts", sa.BigInteger, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )


def _contacts() -> None:
    op.create_table(
        "contacts",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", text(64), nullable=False),
        sa.Column("list_id", KEY, sa.ForeignKey("contact_lists.id"), nullable=False),
        sa.Column("phone_number", text(16), nullable=False),
        sa.Column("f_name", text(128)),
        sa.Column("l_name", text(128)),
        sa.Column("email", text(254)),
        sa.Column("f_name_key", text(128)),
        sa.Column("l_name_key", text(128)),
        sa.Column("email_key", text(128)),
        sa.Column("fields", sa.Text),
        sa.Column("call_status", text(64)),
        sa.Column("add_to_running_campaign", sa.Boolean, nullable=False),
        sa.Column("created_ms", sa.BigInteger, nullable=False),
        sa.Column("updated_ms", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )


def _tags() -> None:
    of_list = sa.ForeignKey("contact_lists.id", ondelete="CASCADE")
    op.create_table(
        "contact_list_tags",
        sa.Column("list_id", KEY, of_list, primary_key=True, autoincrement=False),
        sa.Column("tag_id", text(64), primary_key=True),
        sqlite_with_rowid=False,
    )
    of_contact = sa.ForeignKey("contacts.id", ondelete="CASCADE")
    op.create_table(
        "contact_tags",
        sa.Column("list_id", KEY, primary_key=True, autoincrement=False),
        sa.Column("tag_id", text(64), primary_key=True),
        sa.Column("contact_id", KEY, of_contact, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )


def _files() -> None:
    op.create_table(
        "contact_files",
        sa.Column("id", KEY, primary_key=True, autoincrement=True),
        sa.Column("account_id", text(64), nullable=False),
        sa.Column("list_id", KEY, sa.ForeignKey("contact_lists.id"), unique=True),
        sa.Column("name", text(255), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("kind", text(8), nullable=False),
        sa.Column("encoding", text(32)),
        sa.Column("delimiter", text(1)),
        sa.Column("headers", sa.JSON, nullable=False),
        sa.Column("sample", sa.JSON, nullable=False),
        sa.Column("mappings", sa.JSON),
        sa.Column("uploaded_ms", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    of_file = sa.ForeignKey("contact_files.id", ondelete="CASCADE")
    op.create_table(
        "contact_file_parts",
        sa.Column("file_id", KEY, of_file, primary_key=True, autoincrement=False),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )


def _imports() -> None:
    of_list = sa.ForeignKey("contact_lists.id", ondelete="CASCADE")
    op.create_table(
        "contact_imports",
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id"), primary_key=True),
        sa.Column("list_id", KEY, of_list, nullable=False),
        sa.Column("action", text(8), nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("added", sa.BigInteger, nullable=False),
        sa.Column("updated", sa.BigInteger, nullable=False),
        sa.Column("skipped", sa.BigInteger, nullable=False),
        sa.Column("rejected", sa.BigInteger, nullable=False),
        sa.Column("started_ms", sa.BigInteger, nullable=False),
    )
    of_import = sa.ForeignKey("contact_imports.job_id", ondelete="CASCADE")
    op.create_table(
        "contact_rejects",
        sa.Column("job_id", sa.String(32), of_import, primary_key=True),
        sa.Column("line", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("reason", text(256), nullable=False),
        sa.Column("cells", sa.Text, nullable=False),
    )


def _downloads() -> None:
    op.create_table(
        "contact_download_parts",
        sa.Column("job_id", sa.String(32), sa.ForeignKey("jobs.id"), primary_key=True),
        sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("last_id", KEY, nullable=False),
        sa.Column("made_ms", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )


def _indexes() -> None:
    op.create_index("contact_lists_by_account", "contact_lists", ["account_id", "id"])
    default = sa.and_(
        sa.column("is_default", sa.Boolean), sa.not_(sa.column("is_deleted", sa.Boolean))
    )
    _partial("contact_lists_default", "contact_lists", ["account_id"], default, unique=True)
    for name, keys in {
        "list": ["list_id", "id"],
        "account": ["account_id", "id"],
        "number": ["account_id", "phone_number", "list_id", "id"],
    }.items():
        op.create_index(f"contacts_by_{name}", "contacts", keys)
    once = ["list_id", "phone_number"]
    op.create_index("contacts_by_list_number", "contacts", once, unique=True)
    for key in ("f_name_key", "l_name_key", "email_key"):
        keys = ["account_id", key, "list_id", "id"]
        _partial(f"contacts_by_{key}", "contacts", keys, sa.column(key).is_not(None))
    op.create_index("contact_tags_by_contact", "contact_tags", ["contact_id", "tag_id"])
    op.create_index("ix_contact_imports_list_id", "contact_imports", ["list_id"])
    op.create_index("ix_contact_download_parts_made_ms", "contact_download_parts", ["made_ms"])


def _partial(
    name: str, table: str, keys: list[str], where: sa.ColumnElement[bool], *, unique: bool = False
) -> None:
    op.create_index(name, table, keys, unique=unique, sqlite_where=where, postgresql_where=where)
