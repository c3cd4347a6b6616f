namespace Orleans;

/// <summary>Wraps calls on the callee's side. A service, or a grain for the calls to itself.</summary>
public interface IIncomingGrainCallFilter
{
    /// <summary>Wraps a call: goes on with <see cref="IGrainCallContext.Invoke"/>, or sets the outcome itself.</summary>
    Task Invoke(IIncomingGrainCallContext context);
}
