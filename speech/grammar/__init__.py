"""Offline recognition of a grammar that is made of hints, with pocketsphinx."""
