"""Values stated in words, by Duckling and our rules: amounts, days, times, relative moments."""
