"""Rows that intake's refer to, without the database looking at each new one (parking.models.event): they stay."""

import pgtrigger


def kept(column: str, *, by: str = "eventstate", called: str = "events") -> pgtrigger.Trigger:
    """Refuses to delete a row that a row of the table `by` refers to by this column, which an index begins with."""
    return pgtrigger.Trigger(
        name="referred_to_stays",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=f"""
            IF EXISTS (SELECT FROM parking_{by} WHERE {column} = OLD.id) THEN
                RAISE EXCEPTION '% of % is still referred to by {called}: it stays', OLD.id, TG_TABLE_NAME;
            END IF;
            RETURN OLD;
        """,
    )
