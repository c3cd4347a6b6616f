using Orleans;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activations of one stateless worker grain on this silo, from the start of the first to the end of the last. Any thread;
/// changes take the lock.</summary>
internal sealed class StatelessWorkers(ActivationParts parts, GrainId id, GrainClass grainClass)
{
    private readonly Lock _gate = new();
    private volatile Activation[] _workers = [];
    private bool _isClosed;

    /// <summary>
    /// For how many inspections in a row a worker was idle; null while none is. Made anew by each inspection, so that it holds no worker
    /// that has ended. On the control stage.
    /// </summary>
    private Dictionary<Activation, int>? _idle;

    internal Activation[] Snapshot() => _workers;

    /// <summary>Workers of which idle periods are counted. For tests.</summary>
    internal int CountedIdle => _idle?.Count ?? 0;

    /// <summary>
    /// The first idle worker in order of creation; otherwise a new one if the limit allows; otherwise the one with the shortest queue. Null
    /// if the last worker has left: then the grain needs a new object of this class. A <paramref name="created"/> worker starts with its
    /// first request.
    /// </summary>
    internal Activation? Pick(out bool created)
    {
        created = false;
        var workers = _workers;
        foreach (var worker in workers)
        {
            if (worker.IsIdle && worker.Accepts)
                return worker;
        }

        return Shortest(workers, out var living) is { } shortest && living >= grainClass.Worker!.MaxLocal ? shortest : Add(out created);
    }

    /// <summary>
    /// Requests the end of all workers but one that had no request in so many periods in a row. On the control stage, once per period.
    /// </summary>
    internal void EndIdle(long now, StatelessWorkerOptions options)
    {
        var workers = _workers;
        var before = _idle;
        _idle = null;
        if (workers.Length < 2 || !grainClass.Worker!.RemoveIdleWorkers)
            return;
        var left = workers.Count(static worker => worker.State < ActivationState.Deactivating);
        // The first one is picked first, so it stays.
        foreach (var worker in workers.Reverse())
        {
            if (!worker.MayCollect(now, (long)options.IdleWorkersInspectionPeriod.TotalMilliseconds))
                continue;

            var cycles = (before?.GetValueOrDefault(worker) ?? 0) + 1;
            if (cycles < options.MinIdleCyclesBeforeRemoval || left < 2)
            {
                (_idle ??= [])[worker] = cycles;
                continue;
            }

            left--;
            worker.Deactivate(new DeactivationReason(DeactivationReasonCode.ActivationIdle, "The other workers are enough."));
        }
    }

    /// <summary>Removes a worker that has left. True if it was the last one: then this object is not used any more.</summary>
    internal bool Remove(Activation worker)
    {
        lock (_gate)
        {
            _workers = [.. _workers.Where(other => other != worker)];
            return _isClosed = _workers.Length == 0;
        }
    }

    /// <summary>The worker with the shortest queue among those that do not end.</summary>
    private static Activation? Shortest(Activation[] workers, out int living)
    {
        Activation? shortest = null;
        living = 0;
        foreach (var worker in workers)
        {
            if (worker.State >= ActivationState.Deactivating)
                continue;
            living++;
            if (shortest is null || worker.QueueLength < shortest.QueueLength)
                shortest = worker;
        }

        return shortest;
    }

    private Activation? Add(out bool created)
    {
        created = false;
        lock (_gate)
        {
            if (_isClosed)
                return null;
            if (Shortest(_workers, out var living) is { } shortest && living >= grainClass.Worker!.MaxLocal)
                return shortest;
            var worker = parts.Activations.New(id, grainClass);
            worker.Life.BeginWithFirstRequest();
            _workers = [.. _workers, worker];
            created = true;
            return worker;
        }
    }
}
