namespace Orleans;

/// <summary>Wraps calls on the caller's side.</summary>
public interface IOutgoingGrainCallFilter
{
    /// <summary>Wraps a call: goes on with <see cref="IGrainCallContext.Invoke"/>, or sets the outcome itself.</summary>
    Task Invoke(IOutgoingGrainCallContext context);
}
