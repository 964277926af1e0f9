"""The ledger: what the consumer knows of its events and keys, beside its effects (DESIGN section 4)."""
