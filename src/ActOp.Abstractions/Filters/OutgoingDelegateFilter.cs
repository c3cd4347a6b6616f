using Orleans;

namespace ActOp.Filters;

/// <summary>A filter made of a method.</summary>
internal sealed class OutgoingDelegateFilter(OutgoingGrainCallFilterDelegate filter) : IOutgoingGrainCallFilter
{
    public Task Invoke(IOutgoingGrainCallContext context) => filter(context);
}
