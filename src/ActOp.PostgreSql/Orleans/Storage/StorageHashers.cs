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

/// <summary>Chooses the usual hash, as version 3 of Orleans did for keys of one kind.</summary>
public class Orleans3CompatibleStorageHashPicker : IStorageHasherPicker
{
    private readonly OrleansDefaultHasher _hasher = new();

    /// <summary>Has one hash.</summary>
    public Orleans3CompatibleStorageHashPicker()
    {
        HashProviders = [_hasher];
    }

    /// <inheritdoc/>
    public ICollection<IHasher> HashProviders { get; }

    /// <inheritdoc/>
    public IHasher PickHasher<T>(string serviceId, string storageProviderInstanceName, string grainType, GrainId grainId,
        IGrainState<T> grainState, string? tag = null) => _hasher;
}

/// <summary>The usual hash: that of Bob Jenkins ("lookup2", 1996).</summary>
public sealed class OrleansDefaultHasher : IHasher
{
    private const uint Golden = 0x9E37_79B9;

    /// <inheritdoc/>
    public string Description => "The hash of Bob Jenkins of 1996.";

    /// <inheritdoc/>
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
