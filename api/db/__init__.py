"""The database: engine, columns, migrations."""
