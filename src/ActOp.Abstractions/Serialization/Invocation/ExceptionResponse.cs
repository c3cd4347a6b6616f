using System.Runtime.ExceptionServices;

namespace Orleans.Serialization.Invocation;

/// <summary>A failed outcome.</summary>
internal sealed class ExceptionResponse(Exception exception) : Response
{
    private Exception? _exception = exception;

    public override Exception? Exception
    {
        get => _exception;
        set => _exception = value;
    }

    public override object? Result
    {
        get
        {
            Throw();
            return null;
        }
        set => throw new InvalidOperationException("This response holds an exception; make a new one with Response.FromResult.");
    }

    public override void Dispose()
    {
    }

    public override T GetResult<T>()
    {
        Throw();
        return default!;
    }

    private void Throw()
    {
        if (_exception is { } exception)
            ExceptionDispatchInfo.Throw(exception);
    }
}
