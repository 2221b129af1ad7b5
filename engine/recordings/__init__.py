"""Moves recordings from a PBX to the archive: a directory, or an S3 bucket."""
