"""Transcripts of recordings: a queue in the database, and who transcribes them."""
