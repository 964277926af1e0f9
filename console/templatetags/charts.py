"""Small pictures that the server draws as SVG."""

from django import template

from console.show.alarms import short
from console.show.bars import Bars
from parking.models import Incident

register = template.Library()


@register.inclusion_tag("parts/bars.html")
def bars(drawn: Bars) -> dict[str, Bars]:
    """A sparkline or histogram; its label says the same in words."""
    return {"drawn": drawn}


@register.filter
def short_incident(incident: Incident) -> str:
    """`age over 5 m`: what fires, in few words."""
    return short(incident.kind, incident.detail)
