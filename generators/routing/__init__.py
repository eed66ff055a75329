"""Questions routed through a whole catalog: single, multiple or nested calls (CallNavi 3, 4.1)."""

GROUP = "routing"
ROUTING_EASY, ROUTING_MEDIUM, ROUTING_HARD = "routing_easy", "routing_medium", "routing_hard"
