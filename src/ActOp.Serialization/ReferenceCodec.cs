using ActOp.Wire;

namespace ActOp.Serialization;

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
    /// <summary>False when identity and cycles do not matter: then the object is written whenever it is met.</summary>
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
                var value = ReadBody(ref reader, header == Header.Exact ? -1 : at);
                reader.Session.Exit();
                return value;
            case Header.Typed:
            case Header.TypedTracked:
                return Header.Fit<T>(AnyCodec.Read(ref reader, header == Header.Typed ? -1 : at));
            default:
                return Header.TryFind<T>(ref reader, at, header, out var found) ? found! : Header.ReadSkipped(this, ref reader, at, header);
        }
    }

    void IBodyCodec.WriteObject(ref WireWriter writer, object value) => WriteBody(ref writer, (T)value);

    object IBodyCodec.ReadObject(ref WireReader reader, int at) => ReadBody(ref reader, at);

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

    private void WriteBehind(ref WireWriter writer, byte header, T value)
    {
        writer.WriteByte(header);
        writer.Session.Enter();
        WriteBody(ref writer, value);
        writer.Session.Exit();
    }
}
