namespace Orleans.Runtime.Internal;

/// <summary>Until it is disposed, what is started on this thread does not get the execution context.</summary>
public ref struct ExecutionContextSuppressor
{
    private readonly bool _suppressed;

    /// <summary>Suppresses the flow, if it is not suppressed already.</summary>
    public ExecutionContextSuppressor()
    {
        if (ExecutionContext.IsFlowSuppressed())
            return;
        ExecutionContext.SuppressFlow();
        _suppressed = true;
    }

    /// <summary>Lets the execution context flow again. On the thread that has suppressed it.</summary>
    public readonly void Dispose()
    {
        if (_suppressed)
            ExecutionContext.RestoreFlow();
    }
}
