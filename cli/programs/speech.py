"""`switchroom speech`: runs the speech recognizers."""

from functools import partial

from base.listen import BindFailed
from base.program import Failure, listen_failure, run_program
from base.settings import load
from speech.server import NoRecognizer, SpeechProcess
from speech.settings import Settings


def speech() -> None:
    """Run speech recognizers until SIGTERM; stream gateways send them callers' audio.

    Example: switchroom speech
    """
    failures = {
        NoRecognizer: Failure("packages_missing"),
        BindFailed: listen_failure("SWITCHROOM_SPEECH_HOST and SWITCHROOM_SPEECH_PORT"),
    }
    run_program(partial(load, Settings), SpeechProcess, failures)
