"""SQLite refuses to replace a row of the audit trail.

REPLACE deletes the old row without firing the trigger of migration 0023. PostgreSQL has no REPLACE,
and its ON CONFLICT DO UPDATE fires that trigger.
"""

from alembic import op

revision = "0024"
down_revision = "0023"

TRIGGER = """
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END
"""


def upgrade() -> None:
    """Create the trigger."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(TRIGGER)
