using ActOp.Wire;
using Orleans.Serialization.Buffers;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.Session;

namespace ActOp.Serialization.Fields.Bridging;

/// <summary>A value that the codec of an application writes: a length, then its field.</summary>
internal static class BridgedValue
{
    internal static void Write<T>(ref WireWriter writer, CodecProvider provider, T value)
    {
        using var session = Session(provider, writer.Session);
        var inner = Writer.CreatePooled(session);
        try
        {
            provider.GetCodec<T>().WriteField(ref inner, 0, typeof(T), value);
            inner.Commit();
            writer.WriteBytes(inner.Output.Memory.Span);
        }
        finally
        {
            inner.Dispose();
        }
    }

    internal static T Read<T>(ref WireReader reader, CodecProvider provider)
    {
        var bytes = reader.ReadBytes();
        using var session = Session(provider, reader.Session);
        var inner = Reader.Create(bytes, session);
        var value = provider.GetCodec<T>().ReadValue(ref inner, inner.ReadFieldHeader());
        if (session.ReferencedObjects.HasShared)
            reader.Session.AddUnknown();
        return value;
    }

    /// <summary>The copier of the application, or what its codec writes and reads.</summary>
    internal static T Copy<T>(T value, ActOp.Wire.CopyContext context)
    {
        var provider = Bridge.ForCopy(context.Codecs, typeof(T));
        if (provider.TryGetApplicationCopier(typeof(T)) is not null)
        {
            return provider.GetDeepCopier<T>()
                .DeepCopy(value, new Orleans.Serialization.Cloning.CopyContext(provider, static _ => { }, context));
        }

        return RoundTrip(value, provider);
    }

    internal static T RoundTrip<T>(T value, CodecProvider provider)
    {
        using var session = provider.Sessions.GetSession();
        var writer = Writer.CreatePooled(session);
        try
        {
            provider.GetCodec<T>().WriteField(ref writer, 0, typeof(T), value);
            writer.Commit();
            session.Reset();
            var reader = Reader.Create(writer.Output.Memory.Span, session);
            return provider.GetCodec<T>().ReadValue(ref reader, reader.ReadFieldHeader());
        }
        finally
        {
            writer.Dispose();
        }
    }

    private static SerializerSession Session(CodecProvider provider, WireSession outer)
    {
        var session = provider.Sessions.GetSession();
        session.Outer = outer;
        return session;
    }
}

/// <summary>A class with a codec of an application: header and identity as for any class of ours.</summary>
internal sealed class BridgedClassCodec<T> : ReferenceCodec<T>
    where T : class
{
    protected override void WriteBody(ref WireWriter writer, T value) =>
        BridgedValue.Write(ref writer, Bridge.For(writer.Session.CodecProvider, typeof(T)), value);

    protected override T ReadBody(ref WireReader reader, int at)
    {
        var value = BridgedValue.Read<T>(ref reader, Bridge.For(reader.Session.CodecProvider, typeof(T)))
            ?? throw new Orleans.Serialization.SerializerException(
                "The message has null where an object of type " + typeof(T) + " is expected.");
        Record(ref reader, at, value);
        return value;
    }

    protected override T CopyBody(T value, CopyContext context)
    {
        var copy = BridgedValue.Copy(value, context);
        if (!context.TryGetCopy<object>(value, out _))
            context.RecordCopy(value, copy);
        return copy;
    }
}

/// <summary>A struct, an interface or an abstract class with a codec of an application.</summary>
internal sealed class BridgedCodec<T> : Codec<T>
{
    public override bool IsImmutable => false;

    public override T Copy(T value, CopyContext context) => value is null ? value : BridgedValue.Copy(value, context);

    public override void Write(ref WireWriter writer, T value)
    {
        writer.Session.Enter();
        BridgedValue.Write(ref writer, Bridge.For(writer.Session.CodecProvider, typeof(T)), value);
        writer.Session.Exit();
    }

    public override T Read(ref WireReader reader)
    {
        reader.Session.Enter();
        var value = BridgedValue.Read<T>(ref reader, Bridge.For(reader.Session.CodecProvider, typeof(T)));
        reader.Session.Exit();
        return value;
    }
}

/// <summary>Objects whose class has no name in the manifest, but a codec of an application.</summary>
internal sealed class BridgedAnyCodec : AnyCodec
{
    internal override object Copy(object value, CopyContext context)
    {
        if (context.TryGetCopy<object>(value, out var found))
            return found!;
        var provider = Bridge.ForObject(context.Codecs, value.GetType());
        var copy = CopyObject(value, provider, context);
        if (!context.TryGetCopy<object>(value, out _))
            context.RecordCopy(value, copy);
        return copy;
    }

    internal override void Write(ref WireWriter writer, object value)
    {
        if (!Header.TryTrack(ref writer, value))
            return;
        writer.WriteByte(Header.TypedTracked);
        WriteType(ref writer, this, BridgedObject.Name);
        writer.Session.Enter();
        BridgedValue.Write(ref writer, Bridge.ForObject(writer.Session.CodecProvider, value.GetType()), value);
        writer.Session.Exit();
    }

    protected override object ReadBody(ref WireReader reader, int at)
    {
        var provider = reader.Session.CodecProvider as CodecProvider ?? Bridge.Latest;
        var value = BridgedValue.Read<object>(ref reader, provider)
            ?? throw new Orleans.Serialization.SerializerException("The message has null where an object is expected.");
        if (at >= 0)
            reader.Session.AddRead(at, value);
        return value;
    }

    private static object CopyObject(object value, CodecProvider provider, CopyContext context)
    {
        if (provider.TryGetDeepCopier(value.GetType()) is { } copier)
            return copier.DeepCopy(value, new Orleans.Serialization.Cloning.CopyContext(provider, static _ => { }, context))!;
        return BridgedValue.RoundTrip(value, provider);
    }
}
