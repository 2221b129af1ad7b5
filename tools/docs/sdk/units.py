"""Units that the SDKs add to the names of durations: some of a verb are in s, some in ms."""

_UNITS = {
    ("Gather", "timeout"): "ms",
    ("Gather", "digitTimeout"): "ms",
    ("Record", "maxLength"): "s",
    ("Record", "silence"): "s",
    ("Pause", "length"): "s",
    ("Dial", "timeLimit"): "s",
}


def unit_of(verb: str, field: str, *, is_data: bool) -> str:
    """Return what a name ends with: `_ms`, `_s`, or nothing for what is no duration."""
    unit = _UNITS.get((verb, field)) if is_data else "s" if field == "timeout" else None
    return f"_{unit}" if unit else ""
