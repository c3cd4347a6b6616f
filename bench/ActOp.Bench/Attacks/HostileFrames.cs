using System.Collections.Concurrent;
using System.Numerics;
using ActOp.Runtime.Routing;
using ActOp.Serialization;
using ActOp.Wire;
using Large = ((decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal), (decimal, decimal, decimal, decimal, decimal, decimal, decimal), (decimal, decimal, decimal, decimal, decimal, decimal,
    decimal));

namespace ActOp.Bench.Attacks;

/// <summary>Frames that no library writes.</summary>
internal static class HostileFrames
{
    internal delegate void Write(ref WireWriter writer);

    internal static byte[] Written(Write write)
    {
        var buffer = new WireBuffer();
        var writer = new WireWriter(buffer, new WireSession(null));
        write(ref writer);
        writer.Commit();
        return buffer.Written.ToArray();
    }

    internal static ulong MethodOf<TInterface>(string name) =>
        TypeManifest.Methods.Single(method => method.InterfaceType == typeof(TInterface) && method.Name == name).Id;

    /// <summary>A request of a method of <see cref="IPrey"/>.</summary>
    internal static byte[] Call(string method, string key, Write arguments, bool oneWay = false, Write? context = null) =>
        Request(GrainId.Create("prey", key), MethodOf<IPrey>(method), arguments, oneWay, context);

    internal static byte[] Request(GrainId target, ulong method, Write arguments, bool oneWay = false, Write? context = null) => Written(
        (ref WireWriter writer) =>
        {
            writer.WriteByte((byte)FrameKind.Request);
            writer.WriteByte((byte)((oneWay ? FrameFlags.OneWay : 0) | (context is null ? 0 : FrameFlags.HasContext)));
            writer.WriteByte(0);
            writer.WriteFixed64(1);
            writer.WriteFixed64(method);
            WriteId(ref writer, target);
            WriteId(ref writer, default);
            if (context is not null)
            {
                writer.WriteGuid(Guid.Empty);
                context(ref writer);
            }

            arguments(ref writer);
        });

    /// <summary>Also ids that the library does not write.</summary>
    private static void WriteId(ref WireWriter writer, GrainId id)
    {
        writer.WriteFixed32(id.IsDefault ? 0 : id.GetUniformHashCode());
        writer.WriteBytes(id.Type.AsSpan());
        writer.WriteBytes(id.Key.AsSpan());
    }

    internal static void Nothing(ref WireWriter writer)
    {
    }

    internal static Write Object(object graph) => (ref WireWriter writer) => Codec<object>.Default.Write(ref writer, graph);

    /// <summary>Tuples each of which refers to the one before once or twice, the last one as a key.</summary>
    internal static Write Chain(int length, bool twice) => (ref WireWriter writer) =>
    {
        var parts = new object[length];
        parts[0] = Tuple.Create<object?, object?>(null, null);
        for (var i = 1; i < length; i++)
            parts[i] = Tuple.Create(parts[i - 1], twice ? parts[i - 1] : null);
        Codec<object>.Default.Write(ref writer, parts);
        writer.WriteByte(3);
        writer.WriteVarUInt32(1);
        writer.WriteByte(0);
        Codec<object>.Default.Write(ref writer, parts[^1]);
    };

    /// <summary>An array of aggregate exceptions whose inner ones are references to the one before.</summary>
    internal static Write Exceptions(int length, int shared) => (ref WireWriter writer) =>
    {
        writer.WriteByte(4);
        writer.WriteByte(0);
        writer.WriteString(TypeManifest.NameOf(typeof(Exception[])));
        writer.WriteVarUInt32((uint)length);
        var before = writer.Position;
        BeginException(ref writer, "System.TimeoutException", 0);
        EndException(ref writer);
        for (var i = 1; i < length; i++)
        {
            var at = writer.Position;
            BeginException(ref writer, "System.AggregateException", (uint)shared);
            for (var each = 0; each < shared; each++)
                writer.WriteVarUInt32((uint)(writer.Position - before + 4));
            EndException(ref writer);
            before = at;
        }
    };

    internal static Write Context(Write value) => (ref WireWriter writer) =>
    {
        writer.WriteVarUInt32(1);
        writer.WriteString("key");
        value(ref writer);
    };

    /// <summary>One exception of a class by its name; its own inner one if it is a cycle.</summary>
    internal static Write Exception(string type, string message, bool cycle = false) => (ref WireWriter writer) =>
    {
        var at = writer.Position;
        BeginException(ref writer, type, cycle ? 1u : 0, message);
        if (cycle)
            writer.WriteVarUInt32((uint)(writer.Position - at + 4));
        EndException(ref writer);
    };

    /// <summary>Empty queues that make room for large items; each takes 40 KB in memory and few bytes here.</summary>
    internal static byte[] EmptyQueues { get; } = Call(
        nameof(IPrey.Take), "queues", Object(Enumerable.Range(0, 500).Select(static _ => new ConcurrentQueue<Large>()).ToArray()));

    /// <summary>Boxes of boxes, each twice.</summary>
    internal static Write Boxes(int levels)
    {
        object box = (1, (object)"a");
        for (var i = 0; i < levels; i++)
            box = (box, box);
        return Object(box);
    }

    /// <summary>Keys of a dictionary with one hash code, in the form of the wire: making such a one takes the time of the attack.</summary>
    internal static Write IntegerKeys(int count) => (ref WireWriter writer) =>
    {
        // As an honest one of one entry is written, with another count and more entries.
        var one = Written(static (ref WireWriter inner) => Codec<object>.Default.Write(ref inner, new Dictionary<long, byte> { [0] = 1 }));
        var entry = Written(static (ref WireWriter inner) =>
        {
            Codec<long>.Default.Write(ref inner, 0);
            Codec<byte>.Default.Write(ref inner, 1);
        });
        var head = one.AsSpan(0, one.Length - entry.Length);
        // The count, and the byte of the usual comparer behind it.
        writer.WriteRaw(head[..^2]);
        writer.WriteVarUInt32((uint)count);
        writer.WriteByte(0);
        for (long number = 0; number < count; number++)
        {
            Codec<long>.Default.Write(ref writer, (number << 32) | number);
            Codec<byte>.Default.Write(ref writer, 1);
        }
    };

    /// <summary>The id of a grain whose hash is that of all others of this kind: XXH32 of eight bytes, solved for the last four.</summary>
    internal static GrainId OneHash(uint first)
    {
        const uint Prime3 = 0xC2B2AE3D;
        const uint Prime4 = 0x27D4EB2F;
        const uint InverseOfPrime3 = 0xA89ED915;
        var afterFirst = BitOperations.RotateLeft(0x165667B1 + 8 + (first * Prime3), 17) * Prime4;
        var second = (0x12345678 - afterFirst) * InverseOfPrime3;
        return GrainId.Create(GrainType.Create("prey"), new IdSpan([.. BitConverter.GetBytes(first), .. BitConverter.GetBytes(second)]));
    }

    private static void BeginException(ref WireWriter writer, string type, uint inners, string message = "m")
    {
        writer.WriteByte(3);
        writer.WriteString(type);
        writer.WriteNullableString(message);
        writer.WriteByte(1);
        writer.WriteNullableString("n");
        writer.WriteNullableString(null);
        writer.WriteVarInt32(0);
        writer.WriteVarUInt32(inners);
    }

    private static void EndException(ref WireWriter writer)
    {
        writer.WriteFixed32(0);
        writer.WriteFixed32(0);
    }
}
