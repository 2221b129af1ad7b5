"""The shortest token or password that engines and the REST layer accept in their settings."""

MIN_SECRET_CHARS = 16


def check_length(secret: str) -> None:
    """Raise ValueError for a secret that can be guessed; the text does not contain it."""
    if len(secret) < MIN_SECRET_CHARS:
        raise ValueError(
            f"has {len(secret)} characters; at least {MIN_SECRET_CHARS} are needed,"
            " such as openssl rand -hex 32 prints"
        )
