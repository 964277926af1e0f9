"""How long what is settled is kept: payloads are scrubbed event by event, the rest goes with its whole day.

What is not settled, and what belongs to a key that is not released, is never touched: the database refuses it, too
(`parking.models.event.UNSETTLED_STAYS`). The journal, and what a replay refers to, stay.
"""
