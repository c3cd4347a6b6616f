namespace ActOp.Staging.Interleaving.Tests;

/// <summary>Faults that the search must find; the tests of the tests.</summary>
public static class MutationTable
{
    public static readonly Mutation[] All =
    [
        new("F1, R12: a position in the array that is not the worker's", "Worker.cs",
            "workers[(Index + i) % workers.Length]", "workers[(Index + 1 + i) % workers.Length]",
            "resize, after down and up", "depth first, 1 preemption", 5),
        new("R13: a worker that retires takes its wake-up with it", "Stage.cs",
            "            if (worker.IsSearching)\n                EndSearch(worker);",
            "            if (worker.IsSearching)\n                _roster.EndSearch(worker);",
            "resize, down", "depth first, 1 preemption", 100),
        new("F2: a search is claimed before there is a worker for it", "Roster.cs",
            "        using (_gate.EnterScope())\n            return MayWake ? TakeLast(searching: true) : null;",
            """
                    Interlocked.Add(ref _state, OneSearching);
                    Worker? taken;
                    using (_gate.EnterScope())
                        taken = _idle.Count > 0 ? TakeLast(searching: false) : null;
                    if (taken is null)
                        Interlocked.Add(ref _state, -OneSearching);
                    else
                        taken.IsSearching = true;
                    return taken;
            """,
            "borrow, two posters", "priorities, depth 3", 400),
        new("a worker that goes idle does not look again", "Stage.cs",
            "        if (HasWork())\n        {\n            if (_roster.TryTakeBack(worker))",
            "        if (HasWork() && worker.Index > 99)\n        {\n            if (_roster.TryTakeBack(worker))",
            "wake, one by one", "depth first, 2 preemptions", 100),
        new("a worker retired between going idle and its look wakes nobody", "Stage.cs",
            "                return true;\n            WakeOne();", "                return true;",
            "resize, down, two posters", "priorities, depth 4", 2000),
        new("a retiring worker keeps its queue", "Stage.cs",
            "            worker.MoveToShared();\n", "",
            "resize, down while a thread has a backlog", "depth first, 1 preemption", 400),
        new("who has found an item does not look for more", "Stage.cs",
            "        if (_roster.MayWake && NeedsHelp())\n            WakeOne();\n    }\n\n    internal void WakeOne()",
            "    }\n\n    internal void WakeOne()",
            "wake, each waits for the other", "depth first, 1 preemption", 100),
        new("a worker takes itself back when somebody else has it", "Roster.cs",
            "            if (worker.State != WorkerState.Idle)\n                return false;\n            _idle.Remove(worker);",
            "            _idle.Remove(worker);",
            "wake, three in a row", "depth first, 2 preemptions", 150),
        new("the permit is given before the worker is taken", "Stage.cs",
            "        if (_roster.TryTakeToWake() is not { } worker)\n            return;",
            "        if (Workers[0].State == WorkerState.Idle)\n            Workers[0].Unpark();\n        if (_roster.TryTakeToWake() is "
                + "not { } worker)\n            return;",
            "borrow, two workers", "depth first, 1 preemption", 5),
        new("taking from a queue is not atomic", "Worker.cs",
            "            if (Interlocked.CompareExchange(ref _head, head + 1, head) == head)\n                return item;",
            "            if (Volatile.Read(ref _head) == head)\n            {\n                Volatile.Write(ref _head, head + 1);\n "
                + "return item;\n            }",
            "steal", "depth first, 1 preemption", 100),
        new("the tail moves before the item is there", "Worker.cs",
            "        Volatile.Write(ref _items[tail & (Capacity - 1)], item);\n        Volatile.Write(ref _tail, tail + 1);",
            "        Volatile.Write(ref _tail, tail + 1);\n        Volatile.Write(ref _items[tail & (Capacity - 1)], item);",
            "steal", "depth first, 1 preemption", 200),
        new("a full queue takes one more", "Worker.cs",
            ">= Capacity", "> Capacity",
            "borrow, more than it runs", "depth first, 1 preemption", 5),
        new("no fence between the item and the look for idle threads", "Stage.cs",
            "        Interlocked.Increment(ref _posted);\n        if (_roster.MayWake &&",
            "        _posted++;\n        if (_roster.MayWake &&",
            "wake, three in a row", "depth first, 1 preemption", 5),
        new("the idle ones are not looked at again under the gate", "Roster.cs",
            "            return MayWake ? TakeLast(searching: true) : null;", "            return TakeLast(searching: true);",
            "borrow", "depth first, 2 preemptions", 500),
        new("a retired worker goes idle", "Roster.cs",
            "            if (_isStopping || worker.IsRetired)\n                return false;\n            worker.State = WorkerState.Idle;",
            "            if (_isStopping)\n                return false;\n            worker.State = WorkerState.Idle;",
            "resize, down", "depth first, 1 preemption", 50),
        new("a retired worker stays in the list", "Roster.cs",
            "                    _idle.Remove(worker);\n                    Interlocked.Add(ref _state, -OneIdle);\n "
                + "worker.State = WorkerState.Retired;", "                    worker.State = WorkerState.Retired;",
            "resize, borrowed", "depth first, 1 preemption", 50),
        new("a worker that is in service again is not told", "Roster.cs",
            "                    resumed.Add(worker);\n", "",
            "resize, up", "depth first, 1 preemption", 5),
        new("a thread ends without a look after the stop", "Stage.cs",
            "            if (HasWork())\n                return true;\n            _roster.End();", "            _roster.End();",
            "stop, one thread", "depth first, 2 preemptions", 400),
        new("threads begin after the end", "Roster.cs",
            "            if (_isStopping)\n                return resumed;\n", "",
            "stop, while the number of threads changes", "depth first, 1 preemption", 5),
        new("a parked worker does not learn of the stop", "Roster.cs",
            "                parked.Add(worker);\n", "",
            "stop", "depth first, 1 preemption", 5),
        new("a borrower does not look when it has given back", "BorrowedWorkers.cs",
            "        if (isDone && stage.HasWork())", "        if (worker.Index > 99 && stage.HasWork())",
            "borrow", "depth first, 1 preemption", 10),
        new("a borrower whose worker was retired does not look", "BorrowedWorkers.cs",
            "        if (isDone && stage.HasWork())", "        if (isDone && !worker.IsRetired && stage.HasWork())",
            "inline run, resize, down", "depth first, 1 preemption", 50),
        new("a borrowed worker stays in the list", "Roster.cs",
            "            return _idle.Count == 0 ? null : TakeLast(searching: false);",
            "            return _idle.Count == 0 ? null : _idle[^1];",
            "borrow", "depth first, 1 preemption", 5),
        new("a borrower leaves items behind", "BorrowedWorkers.cs",
            "        if (!isDone || !roster.TryGoIdle(worker))", "        if (!roster.TryGoIdle(worker))",
            "borrow, a chain", "depth first, 1 preemption", 5),
        new("an inline run is counted and not queued", "InlineRuns.cs",
            "        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);\n", "",
            "inline run, resize", "depth first, 1 preemption", 50),
        new("an item is left to an inline run that is counted and not queued", "InlineRuns.cs",
            "        while (true)\n        {\n            var pending = Volatile.Read(ref _pending);\n            if (pending >= "
                + "stage.Threads)\n                return false;\n            if (Interlocked.CompareExchange(ref _pending, pending + 1, "
                + "pending) == pending)\n                return true;\n        }",
            "        if (Interlocked.Increment(ref _pending) <= stage.Threads)\n            return true;\n "
                + "Interlocked.Decrement(ref _pending);\n        return false;",
            "inline run, while others post", "depth first, 2 preemptions", 2000),
        new("an inline run looks before it is out of the count", "InlineRuns.cs",
            "        Interlocked.Decrement(ref _pending);\n        Interlocked.Increment(ref _begun);\n        Volatile.Write(ref "
                + "_leftToPending, 0);\n        if (!stage.HasShared)\n            return;\n",
            "        if (!stage.HasShared)\n        {\n            Interlocked.Decrement(ref _pending);\n            return;\n "
                + "}\n\n        Interlocked.Decrement(ref _pending);\n",
            "inline run, that finds nothing", "depth first, 1 preemption", 500),
        new("an inline run runs items without a worker", "InlineRuns.cs",
            "        using var run = stage.Borrow();",
            "        while (stage.TryTakeShared() is { } one)\n            stage.Run(one);\n        using var run = stage.Borrow();",
            "inline run", "depth first, 1 preemption", 100),
        new("no worker is woken for an inline run that does not begin", "Stage.cs",
            "(isLate || inline.Pending)", "isLate",
            "inline run, that comes late", "depth first, 1 preemption", 5),
        new("no thief takes the next item of a thread with a long one", "Worker.cs",
            "victim.Steal(all: victim.IsHeld)", "victim.Steal(all: false)",
            "steal from a long item", "depth first, 1 preemption", 5),
    ];
}
