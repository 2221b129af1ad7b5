"""Exports of a list's contacts: written in the background, downloaded or sent by e-mail."""
