"""`make demo CHECK=1`: the whole life of several keys, through the verbs that the pages call, and what must hold then.

`life` what is done to each key and expected of it, `plain` the same for a flow without a gate, `alarm` (with `pager`) a
page and its end, `retention` what is purged and what is not, `audit` what must hold of everything that was ever sent,
`seen` what the sample service, Kafka and the console know, `session` a person with a browser, `report` what is said.
"""
