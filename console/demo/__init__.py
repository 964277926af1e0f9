"""The demo: `python -m console.demo` runs everything on one machine beside a sample service, and can check it."""
