"""The grammar that template/v1 words and reads by, which nothing else in the house knows."""
