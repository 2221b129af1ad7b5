"""What recognizers of free speech make of a stream's hints and of its language."""

from collections.abc import Sequence

from wire.streams.recognizer import SpokenHint

_MAX_PROMPT_LENGTH = 500  # a model's context is short
# Tags of languages whose models know them by another ISO 639-1 code: Bokmål is Norwegian.
_MODEL_LANGUAGES = {"nb": "no"}


def hinted_words(hints: Sequence[str | SpokenHint]) -> list[str]:
    """Return the words and phrases; classes of grammars are left out."""
    texts = (hint if isinstance(hint, str) else hint.text for hint in hints)
    return [text for text in texts if not text.startswith("$")]


def prompt_of(hints: Sequence[str | SpokenHint]) -> str:
    """Return the words and phrases as one text, as far as they fit."""
    prompt = ""
    for text in hinted_words(hints):
        longer = f"{prompt}, {text}" if prompt else text
        if len(longer) > _MAX_PROMPT_LENGTH:
            break
        prompt = longer
    return prompt


def model_language(language: str) -> str:
    """Return the ISO 639-1 code by which models know a language tag such as `nb-NO`."""
    primary = language.partition("-")[0].lower()
    return _MODEL_LANGUAGES.get(primary, primary)
