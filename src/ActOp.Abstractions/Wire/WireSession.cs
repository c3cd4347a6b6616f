using ActOp.Calls;

namespace ActOp.Wire;

/// <summary>
/// What lasts for one message: the objects seen so far (identity is kept within a message) and the runtime that grain
/// references are bound to. One thread at a time; <see cref="Reset"/> between messages.
/// </summary>
public sealed class WireSession
{
    private readonly Dictionary<object, uint> _written = new(ReferenceEqualityComparer.Instance);
    private readonly List<object?> _read = [];

    /// <summary>Creates a session for one runtime.</summary>
    internal WireSession(CallRuntime? runtime) => Runtime = runtime;

    internal CallRuntime? Runtime { get; }

    /// <summary>False, with the object's number, when <paramref name="value"/> was written before in this message.</summary>
    public bool TryAddWritten(object value, out uint number)
    {
        if (_written.TryGetValue(value, out number))
            return false;
        number = (uint)_written.Count;
        _written.Add(value, number);
        return true;
    }

    /// <summary>Takes the next number for an object that is about to be read; fill it in with <see cref="SetRead"/>.</summary>
    public int ReserveRead()
    {
        _read.Add(null);
        return _read.Count - 1;
    }

    /// <summary>Fills in an object as soon as it exists, before its members are read (cycles).</summary>
    public void SetRead(int number, object value) => _read[number] = value;

    /// <summary>The object with this number.</summary>
    public object GetRead(uint number) =>
        number < (uint)_read.Count && _read[(int)number] is { } value ? value : throw new Orleans.Serialization.SerializerException("The wire refers to object " + number + ", which has not been read.");

    /// <summary>Forgets the objects of the last message.</summary>
    public void Reset()
    {
        if (_written.Count > 0)
            _written.Clear();
        if (_read.Count > 0)
            _read.Clear();
    }
}
