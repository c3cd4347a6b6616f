// Every test runs several processes: one at a time is enough for a small machine.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
