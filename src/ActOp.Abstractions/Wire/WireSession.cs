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

    /// <summary>The reach of recorded objects that are compared by their values; default for others. Made when it is needed.</summary>
    private Reach[]? _reaches;

    /// <summary>Objects that are recorded out of order: those of skipped members, and those that exist only after their items.</summary>
    private Dictionary<int, (object Value, Reach Reach)>? _late;
    private List<(int Start, int End)>? _skipped;
    private int _depth;
    private int _jumps;

    /// <summary>Bytes that may still be allocated for what is read.</summary>
    private long _decodable = long.MaxValue;

    /// <summary>The largest height of what was read so far of the object that is being read.</summary>
    private int _height;

    /// <summary>What references have added to the bytes that were read; less what is compared by identity.</summary>
    private long _referred;

    /// <summary>How many references of the message were followed.</summary>
    private int _references;

    /// <summary>How many exceptions that are being written have the next one as an inner one.</summary>
    private int _outerExceptions;

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

    /// <summary>What a value of a message has used up, and how far it reaches, counts for the message.</summary>
    internal void GiveBackTo(WireSession outer)
    {
        outer._decodable = _decodable;
        outer._height = Math.Max(outer._height, _height);
        outer._referred += Math.Max(0, _referred);
        outer._references += _references;
    }

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
            if (_reaches is not null)
                Array.Resize(ref _reaches, _count * 2);
        }

        if (_count > 0 && _positions[_count - 1] >= position)
        {
            if (!(_late ??= []).TryAdd(position, (value, default)) || Array.BinarySearch(_positions, 0, _count, position) >= 0)
                throw new SerializerException("Two objects were read at the same position of a message.");
            return;
        }

        _positions[_count] = position;
        if (_reaches is not null)
            _reaches[_count] = default;
        _objects[_count++] = value;
    }

    /// <summary>Records an object that is compared by its members, before they are read: who reaches it from there has no end.</summary>
    internal void AddOpen(int position, object value)
    {
        var index = _count;
        AddRead(position, value);
        SetReach(position, index, Reach.Endless);
    }

    /// <summary>The object that was read at a place; false when there is none.</summary>
    public bool TryGetRead(int position, out object? value)
    {
        var at = Array.BinarySearch(_positions, 0, _count, position);
        if (at >= 0)
        {
            value = _objects[at];
            return true;
        }

        (value, _) = _late is not null && _late.TryGetValue(position, out var late) ? late : default;
        return value is not null;
    }

    /// <summary>The object that the message refers to; its reach is added to that of the object that is being read.</summary>
    internal bool TryRefer(int position, out object? value)
    {
        var at = Array.BinarySearch(_positions, 0, _count, position);
        if (at >= 0)
        {
            value = _objects[at];
            Refer(_reaches is null ? default : _reaches[at]);
            return true;
        }

        if (_late is null || !_late.TryGetValue(position, out var late))
        {
            value = null;
            return false;
        }

        value = late.Value;
        Refer(late.Reach);
        return true;
    }

    /// <summary>An object, or a key, begins: from here on its own reach is measured.</summary>
    /// <param name="position">The place where it begins.</param>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal Measured Begin(int position)
    {
        var outer = new Measured(_height, _count, position, position + _referred);
        _height = 0;
        return outer;
    }

    /// <summary>The end of an object that is compared by its identity: what lies below it is not reached.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal void EndIdentity(in Measured outer, int position)
    {
        _referred = outer.Start + Reach.OfIdentity.Bytes - position;
        _height = Math.Max(outer.Height, Reach.OfIdentity.Height);
    }

    /// <summary>The end of an object that is compared by its members.</summary>
    /// <param name="outer">What <see cref="Begin"/> returned.</param>
    /// <param name="position">The place where the object ends.</param>
    /// <param name="at">The place where it is recorded; negative if it is not.</param>
    /// <param name="levels">What it adds to the height: see <see cref="Reach.LevelsOf"/>.</param>
    internal Reach EndCompared(in Measured outer, int position, int at, int levels)
    {
        var own = Reach.Limited(_height + levels, position + _referred - outer.Start);
        _height = Math.Max(outer.Height, own.Height);
        if (at >= 0)
            SetReach(at, outer.Count, own);
        return own;
    }

    /// <summary>
    /// The end of what is about to be hashed or compared with others. Its reach counts like memory, so that all keys of a message together
    /// take no longer than its length permits.
    /// </summary>
    /// <param name="outer">What <see cref="Begin"/> returned.</param>
    /// <param name="position">The place where the key ends.</param>
    /// <param name="walks">How often a collection goes over it: once, or for each comparison of a search.</param>
    /// <exception cref="SerializerException">It is too deep or too large, or refers to itself.</exception>
    internal void EndKey(in Measured outer, int position, int walks)
    {
        var own = Reach.Limited(_height, position + _referred - outer.Start);
        _height = Math.Max(outer.Height, own.Height);
        Charge(own, position - outer.Position, walks);
    }

    /// <summary>Counts what walks over an object cost, and refuses what is too deep or too large for one.</summary>
    /// <exception cref="SerializerException">It is too deep or too large, or refers to itself.</exception>
    internal void Charge(Reach own, int written, int walks)
    {
        if (own.Height > Reach.MaxHeight)
            throw Reach.TooHigh();
        if (own.Bytes - written > Reach.MaxReferred)
            throw Reach.TooLarge();
        CountDecoded(own.Bytes * walks);
    }

    /// <summary>References of the message that were followed so far.</summary>
    internal int References => _references;

    /// <summary>What was read out of order, in a skipped member, belongs to the object that refers to it.</summary>
    internal void AddSkippedBytes(int bytes)
    {
        _references++;
        _referred += bytes;
    }

    /// <summary>A codec of an application has read references of which it is not known how far they go.</summary>
    internal void AddUnknown() => Refer(Reach.Endless);

    /// <summary>Begins to write inner exceptions; false if there are too many levels for a reader, so that they are left out.</summary>
    internal bool TryEnterInner()
    {
        if (_outerExceptions + 1 >= Reach.MaxInnerExceptions)
            return false;
        _outerExceptions++;
        return true;
    }

    /// <summary>The end of inner exceptions.</summary>
    internal void ExitInner()
    {
        Invariant.Holds(_outerExceptions > 0);
        _outerExceptions--;
    }

    private void Refer(Reach reach)
    {
        _references++;
        if (reach.Height == 0)
            reach = Reach.OfIdentity;
        _height = Math.Max(_height, reach.Height);
        _referred += reach.Bytes;
    }

    /// <summary>The reach so far of an object that is being read: from here on it may be referred to.</summary>
    internal Reach SetReach(int at, in Measured outer, int position)
    {
        var own = Reach.Limited(_height + 1, position + _referred - outer.Start);
        if (at >= 0)
            SetReach(at, outer.Count, own);
        return own;
    }

    /// <param name="position">The place where the object is recorded.</param>
    /// <param name="index">Where it is if it was recorded before what lies within it.</param>
    /// <param name="reach">Its reach.</param>
    private void SetReach(int position, int index, Reach reach)
    {
        if (index < _count && _positions[index] == position)
            (_reaches ??= new Reach[_positions.Length])[index] = reach;
        else if (_late is not null && _late.TryGetValue(position, out var late))
            _late[position] = (late.Value, reach);
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

    /// <summary>Whether the message comes from somebody who may not use up what he likes.</summary>
    internal bool IsDecodedLimited => _decodable < long.MaxValue / 2;

    /// <summary>
    /// Counts the memory of an object, or of the items of a collection, before it is taken. An estimate; values within objects and texts
    /// are not counted, because they cannot be much larger than their bytes.
    /// </summary>
    /// <exception cref="SerializerException">The message needs more than its limit.</exception>
    internal void CountDecoded(long bytes)
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

    /// <summary>Throws if the stack does not suffice for objects with large structs, some levels of which take more than usual.</summary>
    internal static void EnsureStack()
    {
        if (!RuntimeHelpers.TryEnsureSufficientExecutionStack())
            throw TooDeep();
    }

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
                _reaches = null;
            }
            else
            {
                Array.Clear(_objects, 0, _count);
            }
        }

        _count = 0;
        _depth = 0;
        _height = 0;
        _referred = 0;
        _references = 0;
        _outerExceptions = 0;
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

/// <summary>
/// How far a walk over an object goes that does not know which objects it has seen: its hash code, a comparison, its text. Objects that
/// are compared by identity end the walk.
/// </summary>
/// <param name="Height">Levels of objects on the longest way; 0 if it was not measured, because the object is compared by identity.</param>
/// <param name="Bytes">
/// Bytes of the message on all ways together: an object to which two members refer counts twice. Not more than <see cref="Limit"/>.
/// </param>
internal readonly record struct Reach(int Height, long Bytes)
{
    /// <summary>
    /// The largest height of a key or exception. A hash code of generated code takes some 300 bytes of stack per level; 128 KB are certain
    /// when keys are read. Keys and exceptions of applications have a few levels.
    /// </summary>
    internal const int MaxHeight = 256;

    /// <summary>
    /// Levels of inner exceptions that are written; what is below is left out. Far below what is read, as members count there, too.
    /// </summary>
    internal const int MaxInnerExceptions = 64;

    /// <summary>What references may add to one key or exception: this is hashed, or becomes a text, in some 10 ms.</summary>
    internal const long MaxReferred = 16L << 20;

    /// <summary>Sums stay far below an overflow: a message has less than 2^31 references.</summary>
    private const long Limit = 1L << 31;

    /// <summary>Frames of methods keep copies of structs: an object counts as a level more for each so many bytes of its fields.</summary>
    private const int BytesPerLevel = 128;

    /// <summary>The reach of an object that refers to itself.</summary>
    internal static Reach Endless => new(int.MaxValue / 2, Limit);

    /// <summary>An object that is compared by its identity.</summary>
    internal static Reach OfIdentity => new(1, 8);

    internal static Reach Limited(int height, long bytes) => new(Math.Min(height, Endless.Height), Math.Min(bytes, Limit));

    /// <summary>
    /// Beyond so many levels of one object, some of them take more of the stack than what <see cref="WireSession.Enter"/> makes sure of.
    /// </summary>
    internal const int UsualLevels = 2;

    /// <summary>The levels of an object whose fields take so many bytes.</summary>
    internal static int LevelsOf(int fieldBytes) => 1 + (fieldBytes / BytesPerLevel);

    internal static SerializerException TooHigh() => new(
        "A key or exception in the message refers to itself, or is a chain of more than " + MaxHeight + " objects.");

    internal static SerializerException TooLarge() => new(
        "A key or exception in the message becomes more than " + MaxReferred + " bytes larger by references to the same objects.");
}

/// <summary>What was measured of the object around, while an object is read.</summary>
/// <param name="Height">The height so far of the object around.</param>
/// <param name="Count">Objects that were recorded before.</param>
/// <param name="Position">Where the object begins.</param>
/// <param name="Start">The same, with what references have added.</param>
internal readonly record struct Measured(int Height, int Count, int Position, long Start);
