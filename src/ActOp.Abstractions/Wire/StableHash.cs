using System.Buffers.Binary;
using System.Numerics;
using System.Runtime.InteropServices;
using Orleans.Runtime;

namespace ActOp.Wire;

/// <summary>The hash of all identities: XXH32, which is the same in every process and on every machine.</summary>
/// <remarks>Source: the xxHash specification, "XXH32 algorithm description" (Y. Collet).</remarks>
internal static class StableHash
{
    private const uint Prime1 = 0x9E3779B1;
    private const uint Prime2 = 0x85EBCA77;
    private const uint Prime3 = 0xC2B2AE3D;
    private const uint Prime4 = 0x27D4EB2F;
    private const uint Prime5 = 0x165667B1;

    /// <summary>The hash of <paramref name="bytes"/>; different seeds give independent hashes.</summary>
    internal static uint HashOf(ReadOnlySpan<byte> bytes, uint seed = 0)
    {
        var length = (uint)bytes.Length;
        var hash = bytes.Length >= 16 ? Stripes(ref bytes, seed) : seed + Prime5;
        hash += length;
        while (bytes.Length >= 4)
        {
            hash = BitOperations.RotateLeft(hash + (BinaryPrimitives.ReadUInt32LittleEndian(bytes) * Prime3), 17) * Prime4;
            bytes = bytes[4..];
        }

        foreach (var last in bytes)
            hash = BitOperations.RotateLeft(hash + (last * Prime5), 11) * Prime1;
        return Avalanche(hash);
    }

    /// <summary>Joins two hashes; the order counts.</summary>
    internal static uint Join(uint first, uint second) =>
        Avalanche((BitOperations.RotateLeft(first + (second * Prime3), 17) * Prime4) + 8);

    /// <summary>
    /// Whether <see cref="Random"/> differs between processes. Off in the simulator only: the order of some tables is part of a history.
    /// </summary>
    internal static bool IsRandom { get; set; } = true;

    /// <summary>
    /// A hash that is random for each process. For tables of which whoever chooses the keys has made a run of collisions: those of XXH32
    /// can be computed.
    /// </summary>
    /// <remarks>Marvin, as .NET hashes text. It reads two bytes at once, so the last one of an odd number is joined.</remarks>
    internal static uint Random(ReadOnlySpan<byte> bytes)
    {
        if (!IsRandom)
            return HashOf(bytes, Prime1);
        var hash = (uint)string.GetHashCode(MemoryMarshal.Cast<byte, char>(bytes));
        return (bytes.Length & 1) == 0 ? hash : Join(hash, bytes[^1]);
    }

    private static uint Stripes(ref ReadOnlySpan<byte> bytes, uint seed)
    {
        var one = seed + Prime1 + Prime2;
        var two = seed + Prime2;
        var three = seed;
        var four = seed - Prime1;
        while (bytes.Length >= 16)
        {
            one = Round(one, bytes);
            two = Round(two, bytes[4..]);
            three = Round(three, bytes[8..]);
            four = Round(four, bytes[12..]);
            bytes = bytes[16..];
        }

        return BitOperations.RotateLeft(one, 1) + BitOperations.RotateLeft(two, 7) + BitOperations.RotateLeft(three, 12) +
            BitOperations.RotateLeft(four, 18);
    }

    private static uint Round(uint accumulator, ReadOnlySpan<byte> bytes) =>
        BitOperations.RotateLeft(accumulator + (BinaryPrimitives.ReadUInt32LittleEndian(bytes) * Prime2), 13) * Prime1;

    private static uint Avalanche(uint hash)
    {
        hash = (hash ^ (hash >> 15)) * Prime2;
        hash = (hash ^ (hash >> 13)) * Prime3;
        return hash ^ (hash >> 16);
    }
}

/// <summary>
/// For dictionaries of grains whose keys clients choose: by their own hash, many of them could be made to share one bucket.
/// </summary>
internal sealed class GrainsByRandomHash : IEqualityComparer<GrainId>, IEqualityComparer<(GrainId Grain, string Name)>
{
    internal static readonly GrainsByRandomHash Instance = new();

    private GrainsByRandomHash()
    {
    }

    public bool Equals(GrainId x, GrainId y) => x.Equals(y);

    public int GetHashCode(GrainId obj) => StableHash.IsRandom ? (int)StableHash.Random(obj.Key.AsSpan()) : obj.GetHashCode();

    public bool Equals((GrainId Grain, string Name) x, (GrainId Grain, string Name) y) => x.Grain.Equals(y.Grain) && x.Name == y.Name;

    public int GetHashCode((GrainId Grain, string Name) obj) =>
        (int)StableHash.Join(StableHash.Random(obj.Grain.Key.AsSpan()), StableHash.HashOf(MemoryMarshal.AsBytes(obj.Name.AsSpan())));
}
