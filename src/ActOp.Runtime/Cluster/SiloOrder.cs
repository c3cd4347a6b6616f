using System.Buffers.Binary;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>A total order of silos and a stable 64-bit hash of their endpoints: the same in every process, whatever the platform.</summary>
internal sealed class SiloOrder : IComparer<SiloAddress>
{
    /// <summary>The one instance.</summary>
    public static SiloOrder Instance { get; } = new();

    /// <inheritdoc/>
    public int Compare(SiloAddress? x, SiloAddress? y)
    {
        if (x is null || y is null)
        {
            return (x is null ? 0 : 1) - (y is null ? 0 : 1);
        }

        Span<byte> left = stackalloc byte[16];
        Span<byte> right = stackalloc byte[16];
        x.Endpoint.Address.TryWriteBytes(left, out var leftLength);
        y.Endpoint.Address.TryWriteBytes(right, out var rightLength);
        var order = left[..leftLength].SequenceCompareTo(right[..rightLength]);
        if (order == 0)
        {
            order = x.Endpoint.Port.CompareTo(y.Endpoint.Port);
        }

        return order != 0 ? order : x.Generation.CompareTo(y.Generation);
    }

    /// <summary>Whether both are processes at the same address and port.</summary>
    public static bool SameEndpoint(SiloAddress x, SiloAddress y) => x.Endpoint.Equals(y.Endpoint);

    /// <summary>
    /// Hash of address and port without the generation: a silo that restarts comes back to its old place on the ring and to its old slots.
    /// </summary>
    public static ulong EndpointHash(SiloAddress silo)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        silo.Endpoint.Address.TryWriteBytes(bytes, out _);
        var hash = Mix(BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        hash = Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes[8..]));
        return Mix(hash ^ (uint)silo.Endpoint.Port);
    }

    /// <summary>The finaliser of SplitMix64: a bijection in which every input bit moves every output bit.</summary>
    public static ulong Mix(ulong x)
    {
        x += 0x9E3779B97F4A7C15UL;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9UL;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBUL;
        return x ^ (x >> 31);
    }
}
