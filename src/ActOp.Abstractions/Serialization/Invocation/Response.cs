namespace Orleans.Serialization.Invocation;

/// <summary>The outcome of a call: a result or an exception.</summary>
public abstract class Response : IDisposable
{
    /// <summary>The outcome of a method without a result.</summary>
    public static Response Completed { get; } = new ResponseOf<object?>(null);

    /// <summary>The exception, or null.</summary>
    public abstract Exception? Exception { get; set; }

    /// <summary>The result; throws the exception if there is one.</summary>
    public abstract object? Result { get; set; }

    /// <summary>A failed outcome.</summary>
    public static Response FromException(Exception exception) => new ExceptionResponse(exception);

    /// <summary>An outcome with a result.</summary>
    public static Response FromResult<TResult>(TResult value) => new ResponseOf<TResult>(value);

    /// <inheritdoc/>
    public abstract void Dispose();

    /// <summary>The result as <typeparamref name="T"/>; throws the exception if there is one.</summary>
    public abstract T GetResult<T>();

    /// <summary>The result's type where it is known, else null.</summary>
    public virtual Type? GetSimpleResultType() => null;
}
