"""Text-to-speech providers."""
