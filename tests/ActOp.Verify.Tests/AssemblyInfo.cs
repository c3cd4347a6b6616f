// A simulation takes the thread pool of the process.
[assembly: CollectionBehavior(DisableTestParallelization = true)]
