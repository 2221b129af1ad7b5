"""Prints what is said in a WAV file: python transcribe.py WHISPER_MODEL FILE."""

import sys

from faster_whisper import WhisperModel

if __name__ == "__main__":
    _, model, path = sys.argv
    whisper = WhisperModel(model, device="cpu", compute_type="int8", cpu_threads=1)
    segments, _ = whisper.transcribe(path, language="en", beam_size=1, without_timestamps=True)
    sys.stdout.write(" ".join(each.text.strip() for each in segments) + "\n")
