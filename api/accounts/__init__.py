"""Accounts: what each may do, and which numbers are its own."""
