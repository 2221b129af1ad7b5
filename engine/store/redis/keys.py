"""Names of a slot's keys: all have its hash tag, so that they lie on one server of a cluster."""


def slot_key(slot: int, kind: str, name: str | None = None) -> str:
    """Return the key of a slot's data of a kind, or of one call or account in it."""
    return f"{{s{slot}}}:{kind}:{name}" if name is not None else f"{{s{slot}}}:{kind}"


def owner_key(slot: int) -> str:
    return slot_key(slot, "owner")
