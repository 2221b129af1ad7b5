"""Mutants that no test could or should notice, each with the reason."""

from collections.abc import Mapping

from tools.mutants.mutations import Mutant

# (path, text before, text after): why no test can detect it. Texts as the report prints them.
EQUIVALENTS: Mapping[tuple[str, str, str], str] = {
    ("engine/callbacks/account_settings.py", "0", "-1"): (
        "the default of previous_until_ms, which is read only beside a previous secret, set with it"
    ),
}


def reason_for(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent to the product; None: it is not."""
    return EQUIVALENTS.get((mutant.path, mutant.before, mutant.after))
