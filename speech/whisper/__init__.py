"""Offline recognition of free speech with Whisper."""
