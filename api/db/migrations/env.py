"""Alembic's way in: it runs on the connection that `api.db.migrate` hands it."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
