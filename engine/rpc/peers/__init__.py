"""Requests to the other engines."""
