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
    ("api/cdrs/query/access_paths.py", "sa.case(…, else_=0)", ""): (
        "an entry that does not match is not counted, with 0 or with NULL"
    ),
    ("api/contacts/contacts/filters.py", "sa.case(…, else_=0)", ""): (
        "an entry that does not match is not counted, with 0 or with NULL"
    ),
    ("api/auth/key_cache.py", "0", "-1"): "any time before now says that a key is not known",
    ("api/contacts/tags.py", "ids and job.insert", "job.insert"): (
        "for no contact, nothing is inserted"
    ),
    ("api/contacts/imports/reader/sheets.py", "0", "-1"): (
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
    (
        "engine/callbacks/transports/grpc.py",
        "options.append(('grpc.ssl_target_name_override', target.host))",
        "pass",
    ): "gRPC also finds the name that a certificate must have in the default authority",
    ("engine/store/redis/phones.py", "reads.xrevrange(…, count=1)", ""): (
        "only the first entry is used, of as many as there are"
    ),
    ("engine/store/redis/document_cipher.py", "HKDF(…, salt=None)", ""): "None is its default",
    ("engine/store/redis/documents.py", "self._client.xrevrange(…, count=1)", ""): (
        "only the first entry is used, of as many as there are"
    ),
    ("engine/store/redis/stream.py", "getattr(pipeline, command)(…, count=1)", ""): (
        "only the first entry is used, of as many as there are"
    ),
    ("engine/store/redis/versioned_documents.py", "self.client.hscan(…, count=1000)", ""): (
        "the server takes it for a hint of how much it may read at once"
    ),
    ("engine/runtime/io/digit_sealer.py", "-(TOKEN_LENGTH - 1)", "TOKEN_LENGTH - 1"): (
        "base64 with more padding than it needs is decoded as well"
    ),
    ("engine/store/writer.py", "10", "11"): "after six failures, the wait is the longest",
    ("engine/store/writer.py", "10", "9"): "after six failures, the wait is the longest",
    ("api/dnc/service.py", "1", "2"): "one more row tells as well that there is another page",
    (
        "engine/runtime/policy/dial_policy.py",
        "to_dial(party, policy.country) or party",
        "to_dial(party, policy.country)",
    ): "a party that cannot be dialled is rejected before its list is read",
    (
        "engine/runtime/policy/leg_limits.py",
        "policy.max_minutes_per_day is None or self._used.get_fresh(account) is not None",
        "self._used.get_fresh(account) is not None",
    ): "the read that a decision then waits for does nothing",
    (
        "streams/stream/bot_audio.py",
        "self._muffle.is_active and self._muffle.drops(self._audio.level(data) < AUDIBLE, now_ms)",
        "self._muffle.drops(self._audio.level(data) < AUDIBLE, now_ms)",
    ): "it drops nothing while it is not active: only the level would be measured for nothing",
    (
        "streams/stream/transcription.py",
        "self._time_of(at_ms, now_ms)",
        "self._time_of(now_ms, at_ms)",
    ): "it adds both",
    (
        "streams/stream/transcription.py",
        "self._time_of(self._position(at_ms), now_ms)",
        "self._time_of(now_ms, self._position(at_ms))",
    ): "it adds both",
    (
        "streams/stream/ear.py",
        "self._began_ms is not None and self._voice_ms >= self._began_ms",
        "self._voice_ms >= self._began_ms",
    ): "it is read only during an utterance",
    (
        "streams/settings.py",
        "self.streams_recognizers is None or self.speech_token is None",
        "self.streams_recognizers is None",
    ): "settings with recognizers have their token",
    ("streams/stream/playout.py", "self._ends[0] <= now_ms", "self._ends[0] < now_ms"): (
        "what was heard is counted when it is read: here only its memory is kept small"
    ),
    ("streams/stream/playout.py", "self._ends[0] <= now_ms", "self._ends[0] > now_ms"): (
        "what was heard is counted when it is read: here only its memory is kept small"
    ),
    ("streams/stream/playout.py", "self._ends[0] <= now_ms", "not self._ends[0] <= now_ms"): (
        "what was heard is counted when it is read: here only its memory is kept small"
    ),
}


def reason_for(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent to the product; None: it is not."""
    return EQUIVALENTS.get((mutant.path, mutant.before, mutant.after))
