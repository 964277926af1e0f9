-- The ledger of Siding's consumer kit, version 2, for PostgreSQL: what version 1 lacks.
-- Run by ledger.prepare(); or by your own migrations, with the row in siding_version.

ALTER TABLE siding_fate ADD COLUMN evidence bytea;     -- JSON of what the decision was based on

ALTER TABLE siding_fate ADD COLUMN base_digest bytea;  -- SHA-256 of the id that another event wore before

CREATE INDEX siding_fate_base ON siding_fate (flow, base_digest) WHERE base_digest IS NOT NULL;

UPDATE siding_fate SET evidence = result, result = NULL WHERE result IS NOT NULL;

ALTER TABLE siding_announcement ADD COLUMN at bigint NOT NULL DEFAULT 0;

INSERT INTO siding_version (version) VALUES (2);
