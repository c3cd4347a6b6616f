using ActOp.Calls;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A call of a method that returns nothing: nobody waits for it.</summary>
public abstract class VoidRequest : ResultRequest<NoResult>
{
    /// <inheritdoc/>
    public sealed override ValueTask<Response> Invoke()
    {
        try
        {
            InvokeInner();
            return new ValueTask<Response>(Response.Completed);
        }
        catch (Exception exception)
        {
            return new ValueTask<Response>(Response.FromException(exception));
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract void InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            InvokeInner();
        }
        catch (Exception exception)
        {
            Error = exception;
        }

        return true;
    }

    internal sealed override void TakeResult()
    {
    }
}
