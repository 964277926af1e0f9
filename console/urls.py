"""Where each page lives, and what is shown when something goes wrong."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [path("", include("console.pages.urls"))]

handler403 = "console.pages.failure.forbidden"
handler404 = "console.pages.failure.missing"
handler500 = "console.pages.failure.broken"
