using System.Runtime.CompilerServices;

namespace ActOp.Wire;

/// <summary>The copies made so far in one deep copy, so that shared and cyclic references stay so. One thread at a time.</summary>
public sealed class CopyContext
{
    private readonly IdentityMap<object> _copies = new();
    private int _depth;

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
        if (_copies.TryGet(original, out var found))
        {
            copy = (T)found!;
            return true;
        }

        copy = null;
        return false;
    }

    /// <summary>Records a copy as soon as it exists, before its members are copied (cycles).</summary>
    public void RecordCopy(object original, object copy) => _copies.Add(original, copy);

    /// <summary>Enters an object; see <see cref="WireSession.Enter"/>.</summary>
    public void Enter()
    {
        if ((++_depth & WireSession.StackCheck) == 0 && (_depth > WireSession.MaxDepth || !RuntimeHelpers.TryEnsureSufficientExecutionStack()))
            throw WireSession.TooDeep();
    }

    /// <summary>Leaves an object.</summary>
    public void Exit() => _depth--;

    /// <summary>Forgets all copies.</summary>
    public void Reset()
    {
        _copies.Clear();
        _depth = 0;
    }
}
