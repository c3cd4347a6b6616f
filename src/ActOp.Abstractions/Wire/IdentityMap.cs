namespace ActOp.Wire;

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
