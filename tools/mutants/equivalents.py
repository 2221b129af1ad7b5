"""Mutants that no test could or should notice, each with the reason."""

from collections.abc import Mapping

from tools.mutants.mutations import Mutant

# (path, text before, text after): why no test can detect it. Texts as the report prints them.
EQUIVALENTS: Mapping[tuple[str, str, str], str] = {
    ("engine/calls/media/bridge_choice.py", "0", "-1"): "the only party is the first and the last",
    (
        "api/documents/transfer.py",
        "each.key.kind == 'flow' and (each.key.account_id, each.id) in names",
        "(each.key.account_id, each.id) in names",
    ): "all documents of a batch are of one kind",
    ("api/contacts/imports/file_store.py", "0", "-1"): (
        "the first part, which every file has, sets the size"
    ),
    ("api/contacts/imports/reader/zip_guard.py", "0", "-1"): (
        "a byte for each of at most 2,000 members, of a limit of a gigabyte"
    ),
    (
        "api/contacts/imports/store.py",
        "not page and await self.rows(job_id) is None",
        "await self.rows(job_id) is None",
    ): "rows are deleted with their import, so the page after it is empty: one more query",
    ("engine/callbacks/account_settings.py", "0", "-1"): (
        "the default of previous_until_ms, which is read only beside a previous secret, set with it"
    ),
    ("engine/store/redis/phones.py", "reads.xrevrange(…, count=1)", ""): (
        "only the first entry is used, of as many as there are"
    ),
    ("engine/store/redis/document_cipher.py", "HKDF(…, salt=None)", ""): "None is its default",
    ("engine/store/redis/documents.py", "self._client.xrevrange(…, count=1)", ""): (
        "only the first entry is used, of as many as there are"
    ),
    ("engine/runtime/io/digit_sealer.py", "-(TOKEN_LENGTH - 1)", "TOKEN_LENGTH - 1"): (
        "base64 with more padding than it needs is decoded as well"
    ),
    ("api/dnc/service.py", "1", "2"): "one more row tells as well that there is another page",
    (
        "engine/runtime/policy/leg_limits.py",
        "policy.max_minutes_per_day is None or self._used.get_fresh(account) is not None",
        "self._used.get_fresh(account) is not None",
    ): "the read that a decision then waits for does nothing",
}


def reason_for(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent to the product; None: it is not."""
    return EQUIVALENTS.get((mutant.path, mutant.before, mutant.after))
