"""The names of the Siding headers and the words in them (DESIGN section 5)."""

VERSION = "siding-version"
KIND = "siding-kind"
ACTION = "siding-action"
FLOW = "siding-flow"
EVENT_ID = "siding-event-id"
POSITION = "siding-position"
FINGERPRINT = "siding-fingerprint"
SOURCE_TOPIC = "siding-source-topic"
SOURCE_PARTITION = "siding-source-partition"
SOURCE_OFFSET = "siding-source-offset"
SOURCE_TIMESTAMP = "siding-source-timestamp"
CONSUMER_GROUP = "siding-consumer-group"
ATTEMPTS = "siding-attempts"
ATTEMPT_NUMBER = "siding-attempt-number"
BLOCKED_BY = "siding-blocked-by"
TOKEN = "siding-token"
REPLAY_ID = "siding-replay-id"
OUTCOME = "siding-outcome"
FATE_TOKEN = "siding-fate-token"
EVIDENCE = "siding-evidence"
POINTER = "siding-pointer"
KEY = "siding-key"
SIGNATURE = "siding-signature"

POISON, HELD = "poison", "held"
KINDS = (POISON, HELD)

APPLY, SKIP, RELEASE, HOLD = "apply", "skip", "release", "hold"
ACTIONS = (APPLY, SKIP, RELEASE, HOLD)

APPLIED, SKIPPED = "applied", "skipped"
FAILED, FENCED, NOT_HELD, OUT_OF_ORDER, REFUSED = "failed", "fenced", "not-held", "out-of-order", "refused"
RELEASED, STILL_HELD = "released", "still-held"
FACTS = (APPLIED, SKIPPED)
OUTCOMES = (*FACTS, HELD, FAILED, FENCED, NOT_HELD, OUT_OF_ORDER, REFUSED, RELEASED, STILL_HELD)
