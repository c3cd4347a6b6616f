using ActOp.Runtime.Hosting;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>The view this process acts on. Written by the control stage; read by any thread.</summary>
internal sealed class ClusterView(LocalNode local)
{
    private volatile View _view = View.Empty;
    private volatile SiloAddress[] _active = [];
    private volatile TaskCompletionSource _changed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal View View => _view;

    internal MembershipVersion Version => _view.Version;

    /// <summary>The active silos, in one order everywhere.</summary>
    internal SiloAddress[] Active => _active;

    /// <summary>The silos that take new activations, not to be changed: this one no longer when it has begun to stop.</summary>
    internal SiloAddress[] Placeable
    {
        get
        {
            var active = _active;
            return local.IsSilo && local.IsStopping ? [.. active.Where(silo => !silo.Equals(local.Address))] : active;
        }
    }

    /// <summary>Completes with the next change.</summary>
    internal Task Changed => _changed.Task;

    internal bool IsActive(SiloAddress silo) => _view.StatusOf(silo) == SiloStatus.Active;

    /// <summary>The silo may run grains, so a call to it has a chance.</summary>
    internal bool IsUsable(SiloAddress silo) => _view.MayHost(silo);

    internal bool IsDead(SiloAddress silo) => _view.IsDead(silo);

    /// <summary>Takes a newer view, or one of another table, by which the present one is replaced; false when it is not newer.</summary>
    internal bool Update(View view)
    {
        if (view.TableId == _view.TableId && view.Number <= _view.Number)
            return false;
        _view = view;
        _active = view.ActiveSilos.ToArray();
        var changed = _changed;
        _changed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        changed.TrySetResult();
        return true;
    }
}
