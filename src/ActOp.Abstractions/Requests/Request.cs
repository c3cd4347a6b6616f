using ActOp.Calls;
using Orleans.Serialization.Invocation;

namespace Orleans.Runtime;

/// <summary>A call of a method that returns <see cref="ValueTask"/>.</summary>
public abstract class Request : ResultRequest<NoResult>
{
    private ValueTask _running;

    /// <inheritdoc/>
    public sealed override async ValueTask<Response> Invoke()
    {
        try
        {
            await InvokeInner();
            return Response.Completed;
        }
        catch (Exception exception)
        {
            return Response.FromException(exception);
        }
    }

    /// <summary>Calls the method on the target.</summary>
    protected abstract ValueTask InvokeInner();

    internal sealed override bool Start()
    {
        try
        {
            var running = InvokeInner();
            if (running.IsCompleted)
            {
                running.GetAwaiter().GetResult();
                return true;
            }

            _running = running;
        }
        catch (Exception exception)
        {
            Error = exception;
            return true;
        }

        // With the activation's context: the end then runs within the turn that brings it. Without, .NET takes it to the thread pool,
        // because a turn has a scheduler of its own.
        _running.GetAwaiter().UnsafeOnCompleted(OnEnd);
        return false;
    }

    internal sealed override void TakeResult()
    {
        var running = _running;
        _running = default;
        try
        {
            running.GetAwaiter().GetResult();
        }
        catch (Exception exception)
        {
            Error = exception;
        }
    }
}
