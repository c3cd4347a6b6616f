namespace Orleans.Runtime;

/// <summary>
/// The activation whose grain object is being made on this thread: how <see cref="Orleans.Grain"/> finds it without a
/// constructor argument. Lasts from <see cref="Enter"/> until disposed; scopes may be nested.
/// </summary>
internal readonly struct GrainContextScope : IDisposable
{
    [ThreadStatic]
    private static IGrainContext? t_context;

    private readonly IGrainContext? _outer;

    private GrainContextScope(IGrainContext? outer) => _outer = outer;

    /// <summary>The activation, or null outside of scopes.</summary>
    internal static IGrainContext? Current => t_context;

    /// <summary>Begins a scope around the constructor of a grain; it must end on the same thread.</summary>
    internal static GrainContextScope Enter(IGrainContext context)
    {
        var scope = new GrainContextScope(t_context);
        t_context = context;
        return scope;
    }

    /// <summary>Ends the scope.</summary>
    public void Dispose() => t_context = _outer;
}
