namespace Orleans.Runtime;

/// <summary>Finds the activation whose turn runs.</summary>
public interface IGrainContextAccessor
{
    /// <summary>The activation whose turn runs on this thread.</summary>
    IGrainContext GrainContext { get; }
}
