"""A signing secret for tests, and the lookup that finds it for every account."""

from engine.webhooks.signatures import Signer, SignerLookup

SIGNING_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - the standard's own example


def fixed_signer(*secrets: str) -> SignerLookup:
    """Return a lookup that finds the same secrets for each account."""

    async def signer_of(_account: str) -> Signer:
        return Signer(*(secrets or (SIGNING_SECRET,)))

    return signer_of
