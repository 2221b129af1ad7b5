"""The database refuses to change or delete a row of the audit trail.

Who owns the database may remove the triggers, deliberately (docs/operations/security.md).
"""

from alembic import op

revision = "0023"
down_revision = "0022"

SQLITE = """
CREATE TRIGGER audit_no_{name} BEFORE {event} ON audit
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
"""
POSTGRESQL = (
    """
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$
""",
    """
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()
""",
)


def upgrade() -> None:
    """Create the triggers."""
    if op.get_bind().dialect.name == "sqlite":
        for event in ("UPDATE", "DELETE"):
            op.execute(SQLITE.format(name=event.lower(), event=event))
    else:
        for statement in POSTGRESQL:
            op.execute(statement)
