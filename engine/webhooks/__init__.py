"""HTTP requests to customers' servers: address guard, signatures, limits on time and size."""
