"""Two weeks of lifelike history for the demo, screenshots and benchmarks, written by the console's own code.

`tell` decides what happens when and lets it happen, in order of time, under a `clock`; `present` adds what a demo's
running services bring. `cases` are keys that get into trouble, with the records of `disputes` and `invoices` (pure);
`arrivals` hands records to intake; `people` decide and approve; `play` drives an approved replay with an imagined
consumer; `alarms` looks at the rules. `stream` makes records without end and fast, for benchmarks (pure).
"""
