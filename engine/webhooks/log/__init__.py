"""The log of requests to customers' servers: what is recorded, masked and how it is stored."""
