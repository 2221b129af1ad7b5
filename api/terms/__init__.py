"""What accounts may dial, told to engines: they judge every party by it."""
