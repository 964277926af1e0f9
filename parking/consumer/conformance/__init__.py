"""Whether an implementation of the consumer's half of the gate keeps its word, in whatever language it is written.

    python -m parking.consumer.conformance --bootstrap HOST:PORT --flow NAME --start "COMMAND"

The suite makes the topics, starts the implementation by the command, sends source and replay records as a producer and
the console would, kills and restarts it, and judges what it announces, answers and effects. What the implementation's
handler must do is in `contract`; the protocol is docs/protocol.md. `reference` is this kit as the implementation.

`line` speaks Kafka, `implementation` starts and kills, `cases` holds one function for each thing that must be so, by
chapter: `parked`, `replayed`, `released`, `refused`, `crashed`.
"""
