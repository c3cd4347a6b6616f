using System.Runtime.CompilerServices;
using ActOp.Calls;

namespace ActOp.Wire;

/// <summary>The copies made so far in one deep copy, so that shared and cyclic references stay so. One thread at a time.</summary>
public sealed class CopyContext
{
    private readonly IdentityMap<object> _copies = new();
    private int _depth;

    [ThreadStatic]
    private static CopyContext? t_context;

    private object? _codecs;

    // Weak: a thread keeps its context, and must not keep the silo that has used it last.
    private WeakReference<CallRuntime>? _runtime;

    /// <summary>The codecs of the services that ask for the copy, for copiers of an application; null for those of the process.</summary>
    internal object? Codecs
    {
        get => _codecs ?? (_runtime is not null && _runtime.TryGetTarget(out var runtime) ? runtime.CodecProvider : null);
        init => _codecs = value;
    }

    /// <summary>
    /// This thread's context, for copies with the codecs of a silo or client. To be reset after its use: the thread may not need it again
    /// for hours, and would keep what it has copied last.
    /// </summary>
    internal static CopyContext Rent(CallRuntime? runtime)
    {
        var context = t_context ??= new CopyContext();
        context.Reset();
        context._runtime = runtime?.Weak;
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
        if ((++_depth & WireSession.StackCheck) == 0
            && (_depth > WireSession.MaxDepth || !RuntimeHelpers.TryEnsureSufficientExecutionStack()))
        {
            throw WireSession.TooDeep();
        }
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

/// <summary>Values by object identity. Most messages have few objects: the first ones are searched in an array, the rest hashed.</summary>
internal sealed class IdentityMap<TValue>
{
    private const int Linear = 8;

    private readonly object?[] _keys = new object?[Linear];
    private readonly TValue?[] _values = new TValue?[Linear];
    private Dictionary<object, TValue>? _more;
    private int _count;

    internal bool TryGet(object key, out TValue? value)
    {
        for (var i = 0; i < _count; i++)
        {
            if (ReferenceEquals(_keys[i], key))
            {
                value = _values[i];
                return true;
            }
        }

        value = default;
        return _more is { Count: > 0 } more && more.TryGetValue(key, out value);
    }

    /// <summary>Adds a key that is not in the map.</summary>
    internal void Add(object key, TValue value)
    {
        if (_count < Linear)
        {
            _keys[_count] = key;
            _values[_count++] = value;
            return;
        }

        (_more ??= new Dictionary<object, TValue>(ReferenceEqualityComparer.Instance))[key] = value;
    }

    internal void Clear()
    {
        if (_count == 0)
            return;
        Array.Clear(_keys, 0, _count);
        Array.Clear(_values, 0, _count);
        _count = 0;
        if (_more is not { Count: > 0 } more)
            return;
        if (more.Count > 4096)
            _more = null; // One large message must not make every later one clear a large table.
        else
            more.Clear();
    }
}
