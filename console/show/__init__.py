"""How things look, as pure functions: texts made visible, payloads in lines, differences, ages. No Django, no clock."""
