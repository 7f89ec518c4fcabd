"""Everything a notebook shows: charts, labs, exercises."""
