using Orleans.Runtime;

namespace Orleans.Storage;

/// <summary>A hash of names of grains.</summary>
public interface IHasher
{
    /// <summary>What the hash is, for people.</summary>
    string Description { get; }

    /// <summary>The hash of <paramref name="data"/>.</summary>
    int Hash(byte[] data);
}

/// <summary>Chooses the hash for a record.</summary>
public interface IStorageHasherPicker
{
    /// <summary>The hashes to choose from.</summary>
    ICollection<IHasher> HashProviders { get; }

    /// <summary>The hash for the record, or null.</summary>
    IHasher? PickHasher<T>(
        string serviceId, string storageProviderInstanceName, string grainType, GrainId grainId, IGrainState<T> grainState,
        string? tag = null);
}

/// <summary>Chooses the first hash always.</summary>
public class StorageHasherPicker : IStorageHasherPicker
{
    /// <summary>Sets the hashes.</summary>
    public StorageHasherPicker(IEnumerable<IHasher> hashProviders)
    {
        ArgumentNullException.ThrowIfNull(hashProviders);
        HashProviders = [.. hashProviders];
    }

    /// <inheritdoc/>
    public ICollection<IHasher> HashProviders { get; }

    /// <inheritdoc/>
    public IHasher? PickHasher<T>(string serviceId, string storageProviderInstanceName, string grainType, GrainId grainId,
        IGrainState<T> grainState, string? tag = null) => HashProviders.FirstOrDefault();
}

/// <summary>Chooses the hash that version 3 of Orleans had.</summary>
public class Orleans3CompatibleStorageHashPicker : IStorageHasherPicker
{
    private readonly Orleans3CompatibleHasher _hasher = new();

    /// <summary>Has one hash.</summary>
    public Orleans3CompatibleStorageHashPicker()
    {
        HashProviders = [_hasher];
    }

    /// <inheritdoc/>
    public ICollection<IHasher> HashProviders { get; }

    /// <summary>Of a key that is a text, the hash is that of the text and a zero of 8 bytes, which version 3 added.</summary>
    public IHasher PickHasher<T>(string serviceId, string storageProviderInstanceName, string grainType, GrainId grainId,
        IGrainState<T> grainState, string? tag = null) => grainId.TryGetIntegerKey(out _, out _) || grainId.TryGetGuidKey(out _, out _)
            ? _hasher : new Orleans3CompatibleTextHasher(_hasher, grainType);
}

/// <summary>The usual hash: XXH32, with its bytes in reverse order.</summary>
public sealed class OrleansDefaultHasher : IHasher
{
    /// <inheritdoc/>
    public string Description => "XXH32, the bytes reversed.";

    /// <inheritdoc/>
    public int Hash(byte[] data)
    {
        ArgumentNullException.ThrowIfNull(data);
        return (int)Reversed(StableHash.ComputeHash(data));
    }

    /// <summary>What Orleans has for a hash: it takes the bytes of XXH32, highest first, as a number with the lowest first.</summary>
    internal static uint Reversed(uint hash) => System.Buffers.Binary.BinaryPrimitives.ReverseEndianness(hash);
}

/// <summary>The hash of version 3: that of Bob Jenkins ("lookup2", 1996).</summary>
internal sealed class Orleans3CompatibleHasher : IHasher
{
    private const uint Golden = 0x9E37_79B9;

    public string Description => "The hash of Bob Jenkins of 1996.";

    public int Hash(byte[] data)
    {
        ArgumentNullException.ThrowIfNull(data);
        ReadOnlySpan<byte> left = data;
        uint a = Golden, b = Golden, c = 0;
        for (; left.Length >= 12; left = left[12..])
        {
            a += Word(left);
            b += Word(left[4..]);
            c += Word(left[8..]);
            Mix(ref a, ref b, ref c);
        }

        // The low byte of c is that of the length.
        c += (uint)data.Length;
        a += Word(left);
        b += left.Length > 4 ? Word(left[4..]) : 0;
        c += left.Length > 8 ? Word(left[8..]) << 8 : 0;
        Mix(ref a, ref b, ref c);
        return (int)c;
    }

    /// <summary>Up to four bytes, the first one lowest.</summary>
    private static uint Word(ReadOnlySpan<byte> bytes)
    {
        var word = 0u;
        for (var at = 0; at < Math.Min(4, bytes.Length); at++)
            word |= (uint)bytes[at] << (8 * at);
        return word;
    }

    private static void Mix(ref uint a, ref uint b, ref uint c)
    {
        ReadOnlySpan<int> shifts = [-13, 8, -13, -12, 16, -5, -3, 10, -15];
        for (var at = 0; at < shifts.Length; at++)
        {
            var shift = shifts[at];
            var mixed = a - b - c;
            a = mixed ^ (shift < 0 ? c >> -shift : c << shift);
            (a, b, c) = (b, c, a);
        }
    }
}

/// <summary>For keys that are a text. The storage hashes the name of the state with it, too, which stays as it is.</summary>
internal sealed class Orleans3CompatibleTextHasher(Orleans3CompatibleHasher hasher, string stateName) : IHasher
{
    public string Description => hasher.Description;

    public int Hash(byte[] data) =>
        hasher.Hash(data.AsSpan().SequenceEqual(System.Text.Encoding.UTF8.GetBytes(stateName)) ? data : [.. data, .. new byte[8]]);
}
