"""The docs as a site: `make site`."""
