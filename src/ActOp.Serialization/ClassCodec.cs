using System.ComponentModel;
using ActOp.Wire;
using Orleans.Serialization;
using Orleans.Serialization.Activators;

namespace ActOp.Serialization;

/// <summary>A codec of a class whose body can be written behind a header that names the type.</summary>
internal interface IBodyCodec
{
    /// <summary>False when identity and cycles do not matter.</summary>
    bool IsTracked { get; }

    /// <summary>Writes the object without a header.</summary>
    void WriteObject(ref WireWriter writer, object value);

    /// <summary>Reads the object behind a header at <paramref name="at"/>; -1 when it is not tracked.</summary>
    object ReadObject(ref WireReader reader, int at);
}

/// <summary>
/// Codec of a class: writes null, identity and, where it differs from the static type, the actual type before the object.
/// </summary>
/// <remarks>
/// Header, a varint: 0 null; 1 the static type; 2 another type, whose name follows; 3 and 4 the same for objects whose identity
/// is kept; from 5 on the object that was written (header - 4) bytes before.
/// </remarks>
/// <typeparam name="T">The class.</typeparam>
public abstract class ReferenceCodec<T> : Codec<T>, IBodyCodec
    where T : class
{
    // Fields of the codec: static ones of a generic type are looked up at each use.
    private readonly bool _isComparedByMembers = Footprint.IsComparedByMembers(typeof(T));
    private readonly int _levels = Reach.LevelsOf(Footprint.OfFields(typeof(T)));

    private int _footprint = Footprint.BytesOf(typeof(T));

    /// <summary>False if identity and cycles do not matter: then the object is written at each occurrence.</summary>
    protected virtual bool IsTracked => true;

    /// <summary>True when objects of exactly this class can be shared.</summary>
    protected virtual bool IsExactImmutable => false;

    /// <inheritdoc/>
    public override bool IsImmutable => typeof(T).IsSealed && IsExactImmutable;

    bool IBodyCodec.IsTracked => IsTracked;

    /// <inheritdoc/>
    public override T Copy(T value, CopyContext context)
    {
        if (value is null)
            return null!;
        if (value.GetType() != typeof(T))
            return (T)AnyCodec.For(value.GetType()).Copy(value, context);
        if (IsExactImmutable)
            return value;
        if (IsTracked && context.TryGetCopy<T>(value, out var found))
            return found!;
        context.Enter();
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        var copy = CopyBody(value, context);
        context.Exit();
        return copy;
    }

    /// <inheritdoc/>
    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
            writer.WriteByte(Header.Null);
        else if (value.GetType() != typeof(T))
            AnyCodec.For(value.GetType()).Write(ref writer, value);
        else if (!IsTracked)
            WriteBehind(ref writer, Header.Exact, value);
        else if (Header.TryTrack(ref writer, value))
            WriteBehind(ref writer, Header.ExactTracked, value);
    }

    /// <inheritdoc/>
    public override T Read(ref WireReader reader)
    {
        var at = reader.Position;
        var header = reader.ReadVarUInt32();
        switch (header)
        {
            case Header.Null:
                return null!;
            case Header.Exact:
            case Header.ExactTracked:
                reader.Session.Enter();
                var value = ReadMeasured(ref reader, header == Header.Exact ? -1 : at);
                reader.Session.Exit();
                return value;
            case Header.Typed:
            case Header.TypedTracked:
                return Header.Fit<T>(AnyCodec.Read(ref reader, header == Header.Typed ? -1 : at));
            default:
                return Header.TryFind<T>(ref reader, at, header, out var found) ? found! : Header.ReadSkipped(this, ref reader, at, header);
        }
    }

    void IBodyCodec.WriteObject(ref WireWriter writer, object value)
    {
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        WriteBody(ref writer, (T)value);
    }

    object IBodyCodec.ReadObject(ref WireReader reader, int at) => ReadMeasured(ref reader, at);

    /// <summary>Writes the object, which is exactly a <typeparamref name="T"/>.</summary>
    protected abstract void WriteBody(ref WireWriter writer, T value);

    /// <summary>Reads the object; if <paramref name="at"/> is not negative, records it there as soon as it exists.</summary>
    protected abstract T ReadBody(ref WireReader reader, int at);

    /// <summary>Copies the object; records the copy as soon as it exists.</summary>
    protected abstract T CopyBody(T value, CopyContext context);

    /// <summary>Records an object that was made by <see cref="ReadBody"/>.</summary>
    protected static void Record(ref WireReader reader, int at, object value)
    {
        if (at >= 0)
            reader.Session.AddRead(at, value);
    }

    /// <summary>Records an object whose members are read from here on.</summary>
    private protected void RecordOpen(ref WireReader reader, int at, object value)
    {
        if (at < 0)
            return;
        if (_isComparedByMembers)
            reader.Session.AddOpen(at, value);
        else
            reader.Session.AddRead(at, value);
    }

    /// <summary>Objects of the class were found to take more, because its constructor makes others.</summary>
    private protected void RaiseFootprint(long bytes) => _footprint = (int)Math.Clamp(bytes, _footprint, int.MaxValue);

    /// <summary>Reads the object; how far a walk over it goes is known afterwards.</summary>
    private T ReadMeasured(ref WireReader reader, int at)
    {
        var session = reader.Session;
        session.CountDecoded(_footprint);
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        var outer = session.Begin(reader.Position);
        var value = ReadBody(ref reader, at);
        if (_isComparedByMembers)
            session.EndCompared(outer, reader.Position, at, _levels);
        else
            session.EndIdentity(outer, reader.Position);
        return value;
    }

    private void WriteBehind(ref WireWriter writer, byte header, T value)
    {
        writer.WriteByte(header);
        writer.Session.Enter();
        if (_levels > Reach.UsualLevels)
            WireSession.EnsureStack();
        WriteBody(ref writer, value);
        writer.Session.Exit();
    }
}

/// <summary>Base of generated codecs of classes: members with ids, one group for each class of the hierarchy.</summary>
/// <typeparam name="T">The class.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class ClassCodec<T> : ReferenceCodec<T>, IExceptionMembers
    where T : class
{
    private const int Samples = 4;

    private byte _immutable;
    private int _samples;
    private long _least = long.MaxValue;

    /// <summary>The generated codec of the class; for derived classes and exceptions.</summary>
    public static ClassCodec<T> Members => field ??= (ClassCodec<T>)CodecTable.Generated(typeof(T));

    /// <summary>
    /// True if an object and its members cannot change: by [Immutable], or because all members are read-only and immutable.
    /// </summary>
    public bool IsShareable
    {
        get
        {
            const byte no = 1, yes = 2;
            if (_immutable == 0)
            {
                _immutable = no; // A class that contains itself evaluates this again.
                _immutable = AreMembersImmutable() ? yes : no;
            }

            return _immutable == yes;
        }
    }

    /// <inheritdoc/>
    protected override bool IsExactImmutable => IsShareable;

    void IExceptionMembers.Fill(ref WireReader reader, object value) => ReadMembers(ref reader, (T)value);

    /// <summary>Writes the members of the class and its bases.</summary>
    public abstract void WriteMembers(ref WireWriter writer, T value);

    /// <summary>Reads the members of the class and its bases.</summary>
    public abstract void ReadMembers(ref WireReader reader, T value);

    /// <summary>Copies the members of the class and its bases.</summary>
    public abstract void CopyMembers(T from, T to, CopyContext context);

    /// <summary>An object whose members are not set yet.</summary>
    protected abstract T Create();

    /// <summary>Computed once.</summary>
    protected virtual bool AreMembersImmutable() => false;

    /// <inheritdoc/>
    protected override void WriteBody(ref WireWriter writer, T value) => WriteMembers(ref writer, value);

    /// <inheritdoc/>
    protected override T ReadBody(ref WireReader reader, int at)
    {
        var value = _samples < Samples ? CreateSample() : Create();
        RecordOpen(ref reader, at, value);
        ReadMembers(ref reader, value);
        return value;
    }

    /// <inheritdoc/>
    protected override T CopyBody(T value, CopyContext context)
    {
        var copy = Create();
        context.RecordCopy(value, copy);
        CopyMembers(value, copy, context);
        return copy;
    }

    /// <summary>
    /// Measures what an object takes that has read nothing yet: constructors and initializers may make buffers and collections. The least
    /// of some counts, because the first one may initialize classes. Threads may do this at the same time.
    /// </summary>
    private T CreateSample()
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        var value = Create();
        _least = Math.Min(_least, GC.GetAllocatedBytesForCurrentThread() - before);
        if (++_samples == Samples)
            RaiseFootprint(_least);
        return value;
    }
}

/// <summary>Base of generated codecs of structs.</summary>
/// <typeparam name="T">The struct.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public abstract class StructCodec<T> : Codec<T>
    where T : struct
{
    private byte _immutable;

    /// <inheritdoc/>
    public override bool IsImmutable
    {
        get
        {
            const byte no = 1, yes = 2;
            if (_immutable == 0)
            {
                _immutable = no; // A struct that contains itself through a collection evaluates this again.
                _immutable = AreMembersImmutable() ? yes : no;
            }

            return _immutable == yes;
        }
    }

    /// <inheritdoc/>
    public override T Copy(T value, CopyContext context)
    {
        if (IsImmutable)
            return value;
        var copy = value;
        context.Enter();
        CopyMembers(ref copy, context);
        context.Exit();
        return copy;
    }

    /// <inheritdoc/>
    public override void Write(ref WireWriter writer, T value)
    {
        writer.Session.Enter();
        WriteMembers(ref writer, ref value);
        writer.Session.Exit();
    }

    /// <inheritdoc/>
    public override T Read(ref WireReader reader)
    {
        var value = Create();
        reader.Session.Enter();
        ReadMembers(ref reader, ref value);
        reader.Session.Exit();
        return value;
    }

    /// <summary>Writes the members.</summary>
    public abstract void WriteMembers(ref WireWriter writer, ref T value);

    /// <summary>Reads the members.</summary>
    public abstract void ReadMembers(ref WireReader reader, ref T value);

    /// <summary>Replaces the members of a shallow copy by deep copies.</summary>
    public abstract void CopyMembers(ref T value, CopyContext context);

    /// <summary>Computed once.</summary>
    protected abstract bool AreMembersImmutable();

    /// <summary>A value whose members are not set yet.</summary>
    protected virtual T Create() => default;
}

/// <summary>The activator that was registered for a type. Any thread; the first registration stays.</summary>
/// <typeparam name="T">The type.</typeparam>
[EditorBrowsable(EditorBrowsableState.Never)]
public static class RegisteredActivator<T>
{
    private static Func<IActivator<T>>? s_create;
    private static IActivator<T>? s_activator;

    /// <summary>A new object. Called by generated code.</summary>
    /// <exception cref="SerializerException">No activator is registered.</exception>
    public static T Create() => (s_activator ??= (s_create ?? throw Missing()).Invoke()).Create();

    internal static void Set(Func<IActivator<T>> create) => Interlocked.CompareExchange(ref s_create, create, null);

    private static SerializerException Missing() => new(
        "The type " + typeof(T) + " has [UseActivator], but no class with [RegisterActivator] implements IActivator<" + typeof(T).Name
            + ">.");
}

/// <summary>Reads the members of an exception into an object that exists already.</summary>
internal interface IExceptionMembers
{
    void Fill(ref WireReader reader, object value);
}
