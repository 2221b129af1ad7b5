"""Parties of calls: agents (`agent:<id>`), SIP addresses and phone numbers."""


def is_by_trunk(party: str) -> bool:
    """Return whether a party is reached through the trunk."""
    return not party.startswith("agent:")
