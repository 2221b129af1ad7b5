"""The migrations of the database; Alembic loads them by their path."""
