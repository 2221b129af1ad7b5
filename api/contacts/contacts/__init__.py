"""Contacts: searched, shown, added, changed, deleted."""
