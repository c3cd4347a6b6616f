using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activations of one stateless worker grain on this silo, from the first one's begin to the last one's end. Any thread;
/// changes take the lock.</summary>
internal sealed class StatelessWorkers(ActivationParts parts, GrainId id, GrainClass grainClass)
{
    private readonly Lock _gate = new();
    private volatile Activation[] _workers = [];
    private bool _isClosed;

    internal Activation[] Snapshot() => _workers;

    /// <summary>
    /// The first idle worker in order of creation, else a new one if the limit allows, else the one with the shortest queue. Null when the
    /// last worker has left: then there is another object for the grain. A worker that was <paramref name="created"/> begins with its first
    /// request.
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

    /// <summary>Takes out a worker that has left; true when it was the last one, so that this object is used no more.</summary>
    internal bool Remove(Activation worker)
    {
        lock (_gate)
        {
            _workers = [.. _workers.Where(other => other != worker)];
            return _isClosed = _workers.Length == 0;
        }
    }

    /// <summary>Of the workers that are not on their way out.</summary>
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
