using ActOp.Wire;
using Orleans.BroadcastChannel;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Streams;
using Orleans.Streams.Core;

namespace ActOp.Serialization.Codecs;

/// <summary>The codecs of the ids of streams, subscriptions and channels.</summary>
internal static class StreamCodecs
{
    internal static void Add(Action<Type, Func<object>> add)
    {
        add(typeof(StreamId), static () => new StreamIdCodec());
        add(typeof(QualifiedStreamId), static () => new QualifiedStreamIdCodec());
        add(typeof(GuidId), static () => new GuidIdCodec());
        add(typeof(ChannelId), static () => new ChannelIdCodec());
        add(typeof(StreamSubscription), static () => new StreamSubscriptionCodec());
        add(typeof(QueueId), static () => new QueueIdCodec());
    }

    internal static ushort NamespaceLength(uint length, int full) =>
        length <= ushort.MaxValue && length <= full
            ? (ushort)length : throw new SerializerException("The message contains an invalid stream id.");
}

/// <summary>Length of the namespace, namespace and key.</summary>
internal sealed class StreamIdCodec() : PlainCodec<StreamId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, StreamId value)
    {
        writer.WriteVarUInt32((uint)value.Namespace.Length);
        writer.WriteBytes(value.FullKey.Span);
    }

    public override StreamId Read(ref WireReader reader)
    {
        var length = reader.ReadVarUInt32();
        var full = reader.ReadBytes();
        return full.IsEmpty ? default : new StreamId(full.ToArray(), StreamCodecs.NamespaceLength(length, full.Length));
    }
}

/// <summary>Provider and stream.</summary>
internal sealed class QualifiedStreamIdCodec() : PlainCodec<QualifiedStreamId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, QualifiedStreamId value)
    {
        writer.WriteNullableString(value.ProviderName);
        Codec<StreamId>.Default.Write(ref writer, value.StreamId);
    }

    public override QualifiedStreamId Read(ref WireReader reader)
    {
        var provider = reader.ReadNullableString();
        return new QualifiedStreamId(provider!, Codec<StreamId>.Default.Read(ref reader));
    }
}

/// <summary>Whether there is one, and 16 bytes.</summary>
internal sealed class GuidIdCodec() : PlainCodec<GuidId?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, GuidId? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is not null)
            writer.WriteGuid(value.Guid);
    }

    public override GuidId? Read(ref WireReader reader) => reader.ReadByte() == 0 ? null : GuidId.GetGuidId(reader.ReadGuid());
}

/// <summary>Length of the namespace, namespace and key.</summary>
internal sealed class ChannelIdCodec() : PlainCodec<ChannelId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, ChannelId value)
    {
        writer.WriteVarUInt32((uint)value.Namespace.Length);
        writer.WriteBytes(value.FullKey.Span);
    }

    public override ChannelId Read(ref WireReader reader)
    {
        var length = reader.ReadVarUInt32();
        var full = reader.ReadBytes();
        return full.IsEmpty ? default : new ChannelId(full.ToArray(), StreamCodecs.NamespaceLength(length, full.Length));
    }
}

/// <summary>Prefix, which the default value has not, number and place on the ring.</summary>
internal sealed class QueueIdCodec() : PlainCodec<QueueId>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, QueueId value)
    {
        writer.WriteNullableString(value.IsDefault ? null : value.GetStringNamePrefix());
        writer.WriteVarUInt32(value.GetNumericId());
        writer.WriteVarUInt32(value.GetUniformHashCode());
    }

    public override QueueId Read(ref WireReader reader)
    {
        var prefix = reader.ReadNullableString();
        var (number, hash) = (reader.ReadVarUInt32(), reader.ReadVarUInt32());
        return prefix is null ? default : QueueId.GetQueueId(prefix, number, hash);
    }
}

/// <summary>Whether there is one; subscription, provider, stream and grain.</summary>
internal sealed class StreamSubscriptionCodec() : PlainCodec<StreamSubscription?>(WireKind.Block)
{
    public override void Write(ref WireWriter writer, StreamSubscription? value)
    {
        writer.WriteByte(value is null ? (byte)0 : (byte)1);
        if (value is null)
            return;
        writer.WriteGuid(value.SubscriptionId);
        writer.WriteNullableString(value.StreamProviderName);
        Codec<StreamId>.Default.Write(ref writer, value.StreamId);
        Parsing.Write(ref writer, value.GrainId);
    }

    public override StreamSubscription? Read(ref WireReader reader)
    {
        if (reader.ReadByte() == 0)
            return null;
        var id = reader.ReadGuid();
        var provider = reader.ReadNullableString();
        var stream = Codec<StreamId>.Default.Read(ref reader);
        return new StreamSubscription(id, provider!, stream, Parsing.GrainId(ref reader));
    }
}
