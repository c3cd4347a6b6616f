using System.Runtime.CompilerServices;
using ActOp.Runtime.Activations;
using ActOp.Runtime.Routing;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>The observers of this process: held weakly, so that an observer lives only as long as the application keeps it.</summary>
internal sealed class ConditionalObservers
{
    private readonly ConditionalWeakTable<IGrainObserver, Activation> _activations = [];

    /// <summary>The id under which calls reach the object.</summary>
    internal GrainId Add(Node node, IGrainObserver observer)
    {
        var id = WellKnown.Observer(node.Address, Guid.NewGuid());
        var activation = Activation.ForObserver(node, id, node.ObserverClass, observer);
        node.Activations.Add(activation);
        _activations.AddOrUpdate(observer, activation);
        return id;
    }
}
