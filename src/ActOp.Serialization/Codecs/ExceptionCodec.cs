using ActOp.Wire;

namespace ActOp.Serialization.Codecs;

/// <summary>
/// Any exception: header, then type name, message, remote stack, inner exceptions, HResult and, in blocks that can be skipped, its data
/// and the members of a type with [GenerateSerializer]. A type that is not known is read as UnavailableExceptionFallbackException.
/// </summary>
internal sealed class ExceptionCodec<T> : Codec<T>, IBodyCodec
    where T : Exception
{
    /// <summary>Exceptions are shared, as a rethrown one is.</summary>
    public override bool IsImmutable => true;

    public bool IsTracked => true;

    public override T Copy(T value, CopyContext context) => value;

    public override void Write(ref WireWriter writer, T value)
    {
        if (value is null)
            writer.WriteByte(Header.Null);
        else if (Header.TryTrack(ref writer, value))
            WriteBehind(ref writer, value);
    }

    public override T Read(ref WireReader reader)
    {
        var at = reader.Position;
        var header = reader.ReadVarUInt32();
        switch (header)
        {
            case Header.Null:
                return null!;
            case Header.ExactTracked:
                reader.Session.Enter();
                var value = ExceptionBody.Read(ref reader, at);
                reader.Session.Exit();
                return Header.Fit<T>(value);
            case < Header.TypedTracked + 1:
                throw Parsing.Invalid("exception");
            default:
                return Header.TryFind<T>(ref reader, at, header, out var found) ? found! : Header.ReadSkipped(this, ref reader, at, header);
        }
    }

    public void WriteObject(ref WireWriter writer, object value) => ExceptionBody.Write(ref writer, (Exception)value);

    public object ReadObject(ref WireReader reader, int at) => ExceptionBody.Read(ref reader, at);

    private static void WriteBehind(ref WireWriter writer, Exception value)
    {
        writer.WriteByte(Header.ExactTracked);
        writer.Session.Enter();
        ExceptionBody.Write(ref writer, value);
        writer.Session.Exit();
    }
}
