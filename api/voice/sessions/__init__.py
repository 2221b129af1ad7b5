"""Transfers and conferences of live calls."""
