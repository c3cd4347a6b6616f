using System.Runtime.CompilerServices;
using ActOp.Calls;
using Orleans.Serialization;

namespace ActOp.Wire;

/// <summary>
/// What lasts for one message: the objects seen so far (identity is kept within a message) and the runtime that grain
/// references are bound to. One thread at a time; <see cref="Reset"/> between messages.
/// </summary>
/// <remarks>
/// An object is known by the place where it was written, and a later reference says how far back that is. So readers
/// agree on it even if they skip members that they do not know: what lies in a skipped member is read when something
/// refers to it.
/// </remarks>
public sealed class WireSession
{
    /// <summary>How deep objects may be nested in one message, written, read or copied.</summary>
    internal const int MaxDepth = 2048;

    /// <summary>The limits are looked at every so many levels, a power of two less one.</summary>
    internal const int StackCheck = 15;

    /// <summary>How often a message may refer into skipped members.</summary>
    private const int MaxJumps = 64;

    private readonly IdentityMap<int> _written = new();
    private int[] _positions = new int[16];
    private object[] _objects = new object[16];
    private int _count;

    /// <summary>Objects of skipped members, which are read out of order.</summary>
    private Dictionary<int, object>? _late;
    private List<(int Start, int End)>? _skipped;
    private int _depth;
    private int _jumps;

    /// <summary>Bytes that may still be allocated for what is read.</summary>
    private long _decodable = long.MaxValue;

    private readonly WeakReference<CallRuntime>? _runtime;
    private object? _codecProvider;

    /// <summary>Creates a session for one runtime. Threads keep sessions, so a session does not keep its runtime alive.</summary>
    internal WireSession(CallRuntime? runtime) => _runtime = runtime?.Weak;

    /// <summary>True when this is a session of <paramref name="runtime"/>; without a look at whether it still lives.</summary>
    internal bool IsOf(CallRuntime? runtime) => ReferenceEquals(_runtime, runtime?.Weak);

    internal CallRuntime? Runtime => _runtime is not null && _runtime.TryGetTarget(out var runtime) ? runtime : null;

    /// <summary>
    /// The codecs of the services that this message belongs to, for codecs of an application; null for those of the process.
    /// </summary>
    internal object? CodecProvider
    {
        get => _codecProvider ?? Runtime?.CodecProvider;
        set => _codecProvider = value;
    }

    /// <summary>The depth and the limits of a message go on in a value of it that has a session of its own.</summary>
    internal void ContinueFrom(WireSession outer)
    {
        _depth = outer._depth | StackCheck; // The stack is looked at by the first object.
        _decodable = outer._decodable;
    }

    /// <summary>What a value of a message has used up counts for the message.</summary>
    internal void GiveBackTo(WireSession outer) => outer._decodable = _decodable;

    /// <summary>False, with the place where it was written, when <paramref name="value"/> was written before in this message.</summary>
    /// <param name="value">The object.</param>
    /// <param name="position">The place where it is about to be written.</param>
    /// <param name="first">The place where it was written first.</param>
    public bool TryAddWritten(object value, int position, out int first)
    {
        if (_written.TryGet(value, out first))
            return false;
        _written.Add(value, position);
        return true;
    }

    /// <summary>Records an object as soon as it exists, before its members are read (cycles).</summary>
    public void AddRead(int position, object value)
    {
        if (_count == _positions.Length)
        {
            Array.Resize(ref _positions, _count * 2);
            Array.Resize(ref _objects, _count * 2);
        }

        if (_count > 0 && _positions[_count - 1] >= position)
        {
            if (!(_late ??= []).TryAdd(position, value) || Array.BinarySearch(_positions, 0, _count, position) >= 0)
                throw new SerializerException("Two objects were read at the same position of a message.");
            return;
        }

        _positions[_count] = position;
        _objects[_count++] = value;
    }

    /// <summary>The object that was read at a place; false when there is none.</summary>
    public bool TryGetRead(int position, out object? value)
    {
        var at = Array.BinarySearch(_positions, 0, _count, position);
        value = at < 0 ? null : _objects[at];
        return at >= 0 || (_late is not null && _late.TryGetValue(position, out value));
    }

    /// <summary>Remembers a member that was skipped.</summary>
    internal void AddSkipped(int start, int end) => (_skipped ??= []).Add((start, end));

    /// <summary>True when the place lies in a skipped member and may be read now.</summary>
    internal bool MayReadSkipped(int position)
    {
        if (_skipped is null || ++_jumps > MaxJumps)
            return false;
        foreach (var (start, end) in _skipped)
        {
            if (position >= start && position < end)
                return true;
        }

        return false;
    }

    /// <summary>
    /// Limits the memory for what is read of this message, until <see cref="Reset"/>: a few bytes can name much more than themselves.
    /// </summary>
    internal void LimitDecoded(long bytes) => _decodable = bytes;

    /// <summary>
    /// Counts the memory of an object, or of the items of a collection, before it is taken. An estimate; values within objects and texts
    /// are not counted, because they cannot be much larger than their bytes.
    /// </summary>
    /// <exception cref="SerializerException">The message needs more than its limit.</exception>
    internal void Take(long bytes)
    {
        if ((_decodable -= bytes) < 0)
            throw TooLarge();
    }

    /// <summary>Enters an object; throws when objects are nested too deep for the stack or for any honest message.</summary>
    public void Enter()
    {
        if ((++_depth & StackCheck) == 0 && (_depth > MaxDepth || !RuntimeHelpers.TryEnsureSufficientExecutionStack()))
            throw TooDeep();
    }

    /// <summary>Leaves an object.</summary>
    public void Exit() => _depth--;

    /// <summary>Forgets the objects of the last message.</summary>
    public void Reset()
    {
        _written.Clear();
        if (_count > 0)
        {
            if (_count > 4096)
            {
                _positions = new int[16];
                _objects = new object[16];
            }
            else
            {
                Array.Clear(_objects, 0, _count);
            }
        }

        _count = 0;
        _depth = 0;
        _jumps = 0;
        _decodable = long.MaxValue;
        _codecProvider = null;
        _skipped?.Clear();
        _late = null;
    }

    private static SerializerException TooLarge() =>
        new("The message would take more memory than its length permits: see SerializationLimitOptions.MaxDecodedBytesPerByte and "
            + "DecodedBytesPerMessage.");

    internal static SerializerException TooDeep() =>
        new("Objects are nested more than " + MaxDepth + " deep, or deeper than the stack allows.");
}
