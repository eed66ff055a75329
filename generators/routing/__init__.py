"""Questions that are routed through a whole catalog: one call, several, or nested ones (CallNavi 3, 4.1)."""
