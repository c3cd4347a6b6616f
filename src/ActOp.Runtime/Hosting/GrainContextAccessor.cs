using ActOp.Calls;
using Orleans.Runtime;

namespace ActOp.Runtime.Hosting;

/// <summary>The activation whose turn, or whose construction, runs on this thread.</summary>
internal sealed class GrainContextAccessor : IGrainContextAccessor
{
    public IGrainContext GrainContext => CallHost.Current as IGrainContext ?? GrainContextScope.Current ?? throw new InvalidOperationException("No grain runs on this thread.");
}
