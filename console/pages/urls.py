"""Where each page lives. An action is a sub-resource that is posted to."""

from django.urls import path
from django.views.generic import RedirectView

from console.pages import (
    amend,
    decision,
    event,
    key,
    keys,
    replay,
    replay_request,
    replays,
    shell_actions,
    signin,
    unattributed,
)

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="keys"), name="home"),
    path("signin", signin.signin, name="signin"),
    path("signout", signin.signout, name="signout"),
    path("theme", shell_actions.theme, name="theme"),
    path("counts", shell_actions.counts, name="counts"),
    path("keys", keys.keys, name="keys"),
    path("keys/<int:pk>", key.key, name="key"),
    path("keys/<int:pk>/replays", replay_request.replay_request, name="replay_request"),
    path("unattributed", unattributed.unattributed, name="unattributed"),
    path("events/<int:pk>", event.event, name="event"),
    path("events/<int:pk>/raw", event.raw, name="event_raw"),
    path("events/<int:pk>/amend", amend.amend, name="amend"),
    path("events/<int:pk>/amend/check", amend.check, name="amend_check"),
    path("events/<int:pk>/decision", decision.decision, name="decision"),
    path("replays", replays.replays, name="replays"),
    path("replays/<int:pk>", replay.replay, name="replay"),
    path("replays/<int:pk>/report", replay.report, name="replay_report"),
    path("replays/<int:pk>/approve", replay.approve, name="replay_approve"),
    path("replays/<int:pk>/reject", replay.reject, name="replay_reject"),
    path("replays/<int:pk>/cancel", replay.cancel, name="replay_cancel"),
    path("replays/<int:pk>/pause", replay.pause, name="replay_pause"),
    path("replays/<int:pk>/resume", replay.resume, name="replay_resume"),
]
