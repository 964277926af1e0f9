"""Finding parked events: their words (`words`, `document`), the question (`grammar`), the index and the search."""
