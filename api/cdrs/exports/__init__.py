"""Exports of call records as CSV."""
