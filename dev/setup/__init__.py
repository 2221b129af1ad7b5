"""What a lab needs on this machine: Python and Debian packages, disk, the network."""
