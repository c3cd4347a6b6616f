namespace ActOp.Wire;

/// <summary>The copies made so far in one deep copy, so that shared and cyclic references stay so. One thread at a time.</summary>
public sealed class CopyContext
{
    private readonly Dictionary<object, object> _copies = new(ReferenceEqualityComparer.Instance);

    [ThreadStatic]
    private static CopyContext? t_context;

    /// <summary>This thread's context, reset.</summary>
    internal static CopyContext Rent()
    {
        var context = t_context ??= new CopyContext();
        context.Reset();
        return context;
    }

    /// <summary>The copy of <paramref name="original"/> if it was copied before.</summary>
    public bool TryGetCopy<T>(object original, out T? copy)
        where T : class
    {
        if (_copies.TryGetValue(original, out var found))
        {
            copy = (T)found;
            return true;
        }

        copy = null;
        return false;
    }

    /// <summary>Records a copy as soon as it exists, before its members are copied (cycles).</summary>
    public void RecordCopy(object original, object copy) => _copies[original] = copy;

    /// <summary>Forgets all copies.</summary>
    public void Reset()
    {
        if (_copies.Count > 0)
            _copies.Clear();
    }
}
