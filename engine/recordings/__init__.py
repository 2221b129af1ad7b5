"""Recordings on their way from a PBX to the archive: a directory, or a bucket."""
