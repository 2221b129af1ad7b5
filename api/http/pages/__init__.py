"""Pages and documents of the product, the same for everybody."""
