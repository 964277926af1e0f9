"""Two services without a gate: `invoices-eu` parks as Spring Kafka does, `shipments` as Kafka Connect does.

`failures` what of their events fails, `records` what Spring and Connect write then, `service` the process.
"""
