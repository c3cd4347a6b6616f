using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>
/// Turns the bytes of grain ids into ids without making a new object for one that was seen lately. One per thread; a fixed
/// table in which a newer id takes the place of an older one with the same hash.
/// </summary>
internal sealed class IdIntern
{
    /// <summary>Ids of the grains a receive thread works with in a while; 32 bytes each.</summary>
    private const int Size = 1 << 14;

    [ThreadStatic]
    private static IdIntern? t_instance;

    private readonly GrainId[] _ids = new GrainId[Size];

    internal static IdIntern Current => t_instance ??= new IdIntern();

    /// <summary>Writes an id in the form that <see cref="Read"/> reads: its hash, its type and its key.</summary>
    internal static void Write(ref WireWriter writer, GrainId id)
    {
        writer.WriteFixed32(id.IsDefault ? 0 : id.GetUniformHashCode());
        writer.WriteBytes(id.Type.AsSpan());
        writer.WriteBytes(id.Key.AsSpan());
    }

    internal GrainId Read(ref WireReader reader)
    {
        var hash = reader.ReadFixed32();
        var type = reader.ReadBytes();
        var key = reader.ReadBytes();
        return Find(hash, type, key);
    }

    /// <summary>The id with these bytes.</summary>
    internal GrainId Find(uint hash, ReadOnlySpan<byte> type, ReadOnlySpan<byte> key)
    {
        if (type.IsEmpty && key.IsEmpty)
            return default;
        ref var cached = ref _ids[hash & (Size - 1)];
        if (!cached.IsDefault && cached.Key.AsSpan().SequenceEqual(key) && cached.Type.AsSpan().SequenceEqual(type))
            return cached;
        return cached = GrainId.Create(new GrainType(new IdSpan(type.ToArray())), new IdSpan(key.ToArray()));
    }
}
