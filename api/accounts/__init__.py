"""Accounts: their limits, and their numbers."""
