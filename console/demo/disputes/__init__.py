"""The sample service: disputes on accounts, built with the consumer kit as any service would be. No Django inside.

`events` what arrives, `validation` what is wrong with it, `model` what proposes decisions, `bank` the business tables,
`service` the consumer, `stories` and `producer` what the outside world sends. All data is made up.
"""
