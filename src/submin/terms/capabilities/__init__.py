"""What a family may offer beyond the contract: minors, exchanges, gadgets, residual arcs."""
