"""Reads files of contacts, CSV in any common encoding and spreadsheets; runs in a subprocess."""
