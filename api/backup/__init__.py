"""Backups: a sealed file with all rows of the database, and the settings."""
