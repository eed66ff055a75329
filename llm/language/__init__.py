"""How values are written and read in English and Chinese: one vocabulary for wording, grounding and understanding."""
