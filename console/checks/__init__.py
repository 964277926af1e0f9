"""What `manage.py check` looks at beyond Django: the settings, and every server. It says what is wrong, where (the
variable, flow or cluster), and what to do. Nothing here runs when another command starts: `watch` has to work while
Redis is down.
"""
