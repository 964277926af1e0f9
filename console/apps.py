from django.apps import AppConfig


class ConsoleConfig(AppConfig):
    name = "console"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Tasks are declared as shared tasks in replay, which may not import console: they need the app to exist.
        from console import celery  # noqa: F401
