namespace Orleans.Serialization.Invocation;

/// <summary>An outcome with a result.</summary>
internal sealed class ResponseOf<TResult>(TResult value) : Response
{
    private TResult? _value = value;

    public override Exception? Exception
    {
        get => null;
        set => throw new InvalidOperationException("This response holds a result; make a new one with Response.FromException.");
    }

    public override object? Result
    {
        get => _value;
        set => _value = (TResult?)value;
    }

    public override void Dispose()
    {
    }

    public override T GetResult<T>() => (T)(object?)_value!;

    public override Type? GetSimpleResultType() => typeof(TResult);
}
