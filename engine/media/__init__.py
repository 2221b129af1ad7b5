"""Audio for legs: downloaded or synthesized, transcoded to 8 kHz, cached, and served to the PBX."""
