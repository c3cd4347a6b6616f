using Orleans;

namespace ActOp.Filters;

/// <summary>A filter made of a method.</summary>
internal sealed class IncomingDelegateFilter(IncomingGrainCallFilterDelegate filter) : IIncomingGrainCallFilter
{
    public Task Invoke(IIncomingGrainCallContext context) => filter(context);
}
