"""Generates `engine.ari.generated` from the API description that Asterisk installs."""
