"""The SQL of the ledger, once, in SQLite's words; `parking.consumer.ledger.postgres` rewrites what differs.

`siding_now_ms()` is the database's clock, in milliseconds since 1970.

Only names of columns are put together here; every value is a parameter.
"""
# ruff: noqa: S608

HOLD_COLUMNS = "hold_key, quarantined, blocked_by, floor, released, released_position, next_position, buffer_until"
FATE_COLUMNS = (
    "event_id, state, kind, hold_key, position, source_topic, source_partition, source_offset, source_timestamp, "
    "content, source_fingerprint, fingerprint, token, attempt_number, attempts, result, evidence, base_digest, at"
)
_FATE_VALUES = ", ".join(f":{column}" for column in FATE_COLUMNS.split(", "))
_TEXT = ("state", "kind", "source_topic")
_NUMBER = ("position", "source_partition", "source_offset", "source_timestamp", "token", "attempt_number", "at")


def _typed(column: str) -> str:
    kind = "text" if column in _TEXT else "integer" if column in _NUMBER else "blob"
    return f"CAST(:{column} AS {kind})"


_TYPED_VALUES = ", ".join(_typed(column) for column in FATE_COLUMNS.split(", "))

SELECT_HOLD = f"SELECT {HOLD_COLUMNS} FROM siding_hold WHERE flow = :flow AND key_digest = :key_digest"
# A key that is not known may have been forgotten: it begins behind all that were.
CREATE_HOLD = (
    "INSERT INTO siding_hold (flow, key_digest, hold_key, released_position, next_position) "
    "SELECT CAST(:flow AS text), CAST(:key_digest AS blob), CAST(:hold_key AS blob), "
    "coalesce(max(position), 0), coalesce(max(position), 0) "
    "FROM siding_forgotten WHERE flow = :flow ON CONFLICT DO NOTHING"
)
UPDATE_HOLD = (
    "UPDATE siding_hold SET quarantined = :quarantined, blocked_by = :blocked_by, floor = :floor, "
    "released = :released, released_position = :released_position, next_position = :next_position, "
    "buffer_until = :buffer_until "
    "WHERE flow = :flow AND key_digest = :key_digest"
)

SELECT_FATE = f"SELECT {FATE_COLUMNS} FROM siding_fate WHERE flow = :flow AND id_digest = :id_digest"
_WORN = "EXISTS (SELECT 1 FROM siding_fate WHERE flow = :flow AND base_digest = :id_digest)"
"""Whether an event was renamed because another one wears that id: the index has nothing but such events."""
WORN = f"SELECT {_WORN}"
LOOK = (
    f"SELECT h.quarantined, h.buffer_until > siding_now_ms(), {_WORN}, f.* FROM (SELECT 1) AS one "
    "LEFT JOIN siding_hold AS h ON h.flow = :flow AND h.key_digest = :key_digest "
    f"LEFT JOIN (SELECT {FATE_COLUMNS} FROM siding_fate WHERE flow = :flow AND id_digest = :id_digest) AS f ON 1 = 1"
)
INSERT_FATE = (
    f"INSERT INTO siding_fate (flow, id_digest, key_digest, {FATE_COLUMNS}) "
    f"VALUES (:flow, :id_digest, :key_digest, {_FATE_VALUES}) ON CONFLICT DO NOTHING"
)
INSERT_FATE_IF_OPEN = (
    f"INSERT INTO siding_fate (flow, id_digest, key_digest, {FATE_COLUMNS}) "
    f"SELECT CAST(:flow AS text), :id_digest, :key_digest, {_TYPED_VALUES} "
    "WHERE NOT EXISTS (SELECT 1 FROM siding_hold WHERE flow = :flow AND key_digest = :key_digest AND quarantined) "
    f"AND NOT {_WORN} ON CONFLICT DO NOTHING"
)
UPDATE_FATE = (
    "UPDATE siding_fate SET state = :state, kind = :kind, position = :position, fingerprint = :fingerprint, "
    "token = :token, attempt_number = :attempt_number, attempts = :attempts, result = :result, evidence = :evidence, "
    "at = :at "
    "WHERE flow = :flow AND id_digest = :id_digest"
)
SELECT_HELD = (
    f"SELECT {FATE_COLUMNS} FROM siding_fate WHERE flow = :flow AND key_digest = :key_digest AND state = 'held' "
    "ORDER BY position LIMIT :most"
)
SELECT_HELD_AT = (
    "SELECT event_id FROM siding_fate WHERE flow = :flow AND key_digest = :key_digest AND state = 'held' "
    "AND position = :position"
)
COUNT_HELD = (
    "SELECT count(*), coalesce(sum(CASE WHEN kind = 'poison' THEN 1 ELSE 0 END), 0) FROM siding_fate "
    "WHERE flow = :flow AND key_digest = :key_digest AND state = 'held'"
)

INSERT_ANNOUNCEMENT = (
    "INSERT INTO siding_announcement (flow, key_digest, hold_key, record, at) "
    "VALUES (:flow, :key_digest, :hold_key, :record, siding_now_ms())"
)
SELECT_DUE = (
    "SELECT sequence, hold_key, record FROM siding_announcement WHERE flow = :flow AND sequence > :after "
    "ORDER BY sequence LIMIT :most"
)
SELECT_DUE_OF_KEY = (
    "SELECT sequence, hold_key, record FROM siding_announcement WHERE flow = :flow AND key_digest = :key_digest "
    "AND sequence > :after ORDER BY sequence LIMIT :most"
)
DELETE_ANNOUNCEMENT = "DELETE FROM siding_announcement WHERE sequence = :sequence"
OLDEST_DUE = "SELECT min(at) FROM siding_announcement WHERE flow = :flow"

SELECT_NOW = "SELECT siding_now_ms()"

# Purging walks fates and keys by digest, window after window: no index more for what happens once an hour.
PURGE_WINDOW = (
    "SELECT max(id_digest) FROM (SELECT id_digest FROM siding_fate WHERE flow = :flow AND id_digest > :after "
    "ORDER BY id_digest LIMIT :most) AS next_ones"
)
PURGE_FATES = (
    "DELETE FROM siding_fate WHERE flow = :flow AND id_digest > :after AND id_digest <= :last "
    "AND state <> 'held' AND at < :before "
    "AND NOT EXISTS (SELECT 1 FROM siding_hold AS h WHERE h.flow = :flow AND h.key_digest = siding_fate.key_digest "
    "AND h.quarantined) "
    "AND NOT EXISTS (SELECT 1 FROM siding_fate AS derived WHERE derived.flow = :flow "
    "AND derived.base_digest = siding_fate.id_digest)"
)
PURGE_BEGUN = "DELETE FROM siding_begun WHERE flow = :flow AND at < :before"
PURGE_HOLDS_WINDOW = (
    "SELECT max(key_digest) FROM (SELECT key_digest FROM siding_hold WHERE flow = :flow AND key_digest > :after "
    "ORDER BY key_digest LIMIT :most) AS next_ones"
)
PURGE_HOLDS = (
    "DELETE FROM siding_hold WHERE flow = :flow AND key_digest > :after AND key_digest <= :last "
    "AND NOT quarantined AND floor < :before AND released < :before AND next_position < :before "
    "AND NOT EXISTS (SELECT 1 FROM siding_announcement AS due WHERE due.flow = :flow "
    "AND due.key_digest = siding_hold.key_digest) RETURNING next_position"
)
PURGED_HOLDS = (
    "INSERT INTO siding_forgotten (flow, position) VALUES (:flow, :position) ON CONFLICT (flow) DO UPDATE "
    "SET position = CASE WHEN excluded.position > siding_forgotten.position THEN excluded.position "
    "ELSE siding_forgotten.position END"
)
CREATE_NOTE = "INSERT INTO siding_forgotten (flow) VALUES (:flow) ON CONFLICT DO NOTHING"
SELECT_NOTE = "SELECT edge, noted, ends FROM siding_forgotten WHERE flow = :flow"
UPDATE_NOTE = "UPDATE siding_forgotten SET edge = :edge, noted = :noted, ends = :ends WHERE flow = :flow"
PURGE_DISAGREEMENTS = "DELETE FROM siding_disagreement WHERE flow = :flow AND at < :before"
PURGE_MODES = (
    "DELETE FROM siding_mode WHERE flow = :flow AND at < :before AND sequence < (SELECT max(sequence) "
    "FROM siding_mode AS n WHERE n.flow = siding_mode.flow AND n.scope = siding_mode.scope)"
)

SELECT_VERSION = "SELECT max(version) FROM siding_version"
