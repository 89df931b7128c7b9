"""How fast btai is, and how its cost grows: `python -m benchmarks [quick]`, or `make bench [QUICK=1]`.

Prints tables and writes `benchmarks/results/results.json` and, with the extra `plots`, a PNG for each curve; the quick
run, which only shows that the measuring works, writes to `results/quick/`. pymdp is compared with where the extra
`pymdp` is installed. Times are the least of several repetitions; only those of one run on a quiet machine compare.
"""
