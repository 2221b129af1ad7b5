"""The worker process that decodes and transcodes media."""
