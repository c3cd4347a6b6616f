using Orleans.Runtime;

namespace Orleans;

/// <summary>A call on the caller's side.</summary>
public interface IOutgoingGrainCallContext : IGrainCallContext
{
    /// <summary>The activation that calls; null when no grain does.</summary>
    IGrainContext? SourceContext { get; }
}
