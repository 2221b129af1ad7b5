"""How a program that prints an error says where its code is explained."""

PLAIN_CODES = {"not_found", "invalid"}  # messages name the thing, or each field


def code_hint(code: str) -> str:
    """Return a code with the command that explains it; empty if the message says as much."""
    if code in PLAIN_CODES:
        return ""
    from wire.error_codes.catalogue import find_code  # noqa: PLC0415 - only errors need the table

    found = find_code(code)
    return f"{code}: `switchroom error show {code}` explains it" if found else ""


def failure_lines(program: str, message: str, code: str) -> str:
    """Return what a program prints that cannot do its work."""
    lines = (f"{program}: {message}", code_hint(code))
    return "\n  ".join(each for each in lines if each)
