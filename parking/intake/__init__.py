"""Parking topics → store: `kafka_in` brings a record, `read` reads it, `store` stores it (`load`, `fold`, `write`)."""
