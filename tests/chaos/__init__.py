"""`make chaos`: everything under load while processes are killed at random moments, and what must hold afterwards.

`kills` whom and when, `load` what is sent, `people` two robots who decide, ask and approve through the verbs, `verdict`
what the service's own database, the source topic and the console say when all is quiet. `__main__` puts it together,
`inside` is the part that runs beside the demo's processes and is never killed: it is the witness.
"""
