using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The activations of one stateless worker grain on this silo. Any thread; creation takes the lock.</summary>
internal sealed class StatelessWorkers(Node node, GrainId id, GrainClass grainClass)
{
    private readonly Lock _gate = new();
    private volatile Activation[] _workers = [];

    internal Activation[] Snapshot() => _workers;

    /// <summary>The first idle worker in order of creation, else a new one if the limit allows, else the one with the shortest queue.</summary>
    internal Activation Pick()
    {
        var workers = _workers;
        Activation? shortest = null;
        foreach (var worker in workers)
        {
            if (worker.IsIdle && worker.Accepts)
                return worker;
            if (shortest is null || worker.QueueLength < shortest.QueueLength)
                shortest = worker;
        }

        return shortest is null || workers.Length < grainClass.Worker!.MaxLocal ? Add() : shortest;
    }

    internal void Remove(Activation worker)
    {
        lock (_gate)
            _workers = [.. _workers.Where(other => other != worker)];
    }

    private Activation Add()
    {
        lock (_gate)
        {
            if (_workers.Length >= grainClass.Worker!.MaxLocal)
                return _workers[^1];
            var address = new GrainAddress { GrainId = id, ActivationId = ActivationId.NewId(), SiloAddress = node.Address, MembershipVersion = node.Silos.Version };
            var worker = new Activation(node, address, grainClass, node.WorkStage);
            _workers = [.. _workers, worker];
            worker.Begin(null);
            return worker;
        }
    }
}
