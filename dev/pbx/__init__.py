"""An Asterisk for the lab: from Docker, on the PATH, or in a private Debian root."""
