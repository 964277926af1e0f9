"""Rows that events refer to, without the database looking at each new event (parking.models.event): they stay."""

import pgtrigger


def kept(column: str) -> pgtrigger.Trigger:
    """Refuses to delete a row that an event refers to by this column, which an index begins with."""
    return pgtrigger.Trigger(
        name="referred_to_stays",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=f"""
            IF EXISTS (SELECT FROM parking_eventstate WHERE {column} = OLD.id) THEN
                RAISE EXCEPTION '% of % is still referred to by events: it stays', OLD.id, TG_TABLE_NAME;
            END IF;
            RETURN OLD;
        """,
    )
