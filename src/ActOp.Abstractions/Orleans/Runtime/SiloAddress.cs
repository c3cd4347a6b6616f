using System.Buffers.Binary;
using System.Collections.Immutable;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Net;
using System.Runtime.InteropServices;
using System.Text;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>
/// The identity of a silo's process: where it listens and its generation, which tells one start from the next at the same place. Clients
/// have negative generations.
/// </summary>
/// <remarks>
/// Text forms: <c>S127.0.0.1:11111:268435456</c> for people (C for clients), <c>127.0.0.1:11111@268435456</c> to be read back.
/// </remarks>
[JsonConverter(typeof(SiloAddressJsonConverter))]
public sealed class SiloAddress : IEquatable<SiloAddress>, IComparable<SiloAddress>, ISpanFormattable
{
    private static readonly DateTimeOffset Epoch = new(2010, 1, 1, 0, 0, 0, TimeSpan.Zero);

    /// <summary>
    /// The addresses that were made last, by their hash: equal addresses are the same object as long as no other one takes the place.
    /// </summary>
    private static readonly SiloAddress?[] Recent = new SiloAddress?[RecentCount];

    private const int RecentCount = 1024;

    private readonly uint _hash;

    private SiloAddress(IPEndPoint endpoint, int generation)
    {
        Endpoint = endpoint;
        Generation = generation;
        _hash = HashOf(0);
    }

    /// <summary>No silo: 0.0.0.0:0@0.</summary>
    public static SiloAddress Zero { get; } = New(IPAddress.Any, 0, 0);

    /// <summary>Where the process listens, as others see it.</summary>
    public IPEndPoint Endpoint { get; }

    /// <summary>Which start of the process; negative for clients.</summary>
    public int Generation { get; }

    /// <summary>True for a client.</summary>
    public bool IsClient => Generation < 0;

    /// <inheritdoc/>
    public static bool operator ==(SiloAddress? left, SiloAddress? right) => left is null ? right is null : left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(SiloAddress? left, SiloAddress? right) => !(left == right);

    /// <summary>A generation for a process that starts now: the seconds since the beginning of 2010.</summary>
    public static int AllocateNewGeneration() => (int)((TimeProvider.System.GetUtcNow() - Epoch).Ticks / TimeSpan.TicksPerSecond);

    /// <summary>The silo at this address.</summary>
    public static SiloAddress New(IPAddress address, int port, int generation) => New(new IPEndPoint(address, port), generation);

    /// <summary>The silo at this address.</summary>
    public static SiloAddress New(IPEndPoint ep, int gen)
    {
        ArgumentNullException.ThrowIfNull(ep);
        var made = new SiloAddress(ep, gen);
        ref var recent = ref Recent[made._hash % RecentCount];
        if (Volatile.Read(ref recent) is { } known && known.Equals(made))
            return known;
        Volatile.Write(ref recent, made);
        return made;
    }

    /// <summary>Reads what <see cref="ToParsableString"/> wrote.</summary>
    /// <exception cref="FormatException">The text is no silo address.</exception>
    public static SiloAddress FromParsableString(string addr) => Parse(addr);

    /// <summary>Reads what <see cref="ToParsableString"/> wrote, in UTF-8.</summary>
    /// <exception cref="FormatException">The text is no silo address.</exception>
    public static SiloAddress FromUtf8String(ReadOnlySpan<byte> addr) => Parse(addr);

    /// <summary>Reads <c>ip:port@generation</c> in UTF-8.</summary>
    /// <exception cref="FormatException">The text is no silo address.</exception>
    public static SiloAddress Parse(ReadOnlySpan<byte> utf8Text) => Parse(Encoding.UTF8.GetString(utf8Text));

    /// <summary>Reads <c>ip:port@generation</c>.</summary>
    /// <exception cref="FormatException">The text is no silo address.</exception>
    public static SiloAddress Parse(string value)
    {
        ArgumentNullException.ThrowIfNull(value);
        return TryParse(value, out var address)
            ? address : throw new FormatException("'" + value + "' is not a silo address: expected ip:port@generation.");
    }

    /// <summary>Reads <c>ip:port@generation</c> in UTF-8; false when the text is something else.</summary>
    public static bool TryParse(ReadOnlySpan<byte> utf8Text, [NotNullWhen(true)] out SiloAddress? result) =>
        TryParse(Encoding.UTF8.GetString(utf8Text), out result);

    /// <summary>Reads <c>ip:port@generation</c>; false when the text is something else.</summary>
    public static bool TryParse([NotNullWhen(true)] string? value, [NotNullWhen(true)] out SiloAddress? result)
    {
        result = null;
        var at = value?.LastIndexOf('@') ?? -1;
        if (at < 0 || !int.TryParse(value.AsSpan(at + 1), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var generation))
            return false;
        var endpoint = value.AsSpan(0, at);
        var colon = endpoint.LastIndexOf(':');
        if (colon < 1
            || !ushort.TryParse(endpoint[(colon + 1)..], NumberStyles.None, CultureInfo.InvariantCulture, out var port)
            || !IPAddress.TryParse(endpoint[..colon], out var address))
        {
            return false;
        }

        result = New(address, port, generation);
        return true;
    }

    /// <summary>A hash that is the same in every process.</summary>
    public int GetConsistentHashCode() => (int)_hash;

    /// <summary>As many independent hashes as asked for, the same in every process.</summary>
    public ImmutableArray<uint> GetUniformHashCodes(int numHashes)
    {
        var hashes = new uint[numHashes];
        for (var i = 0; i < numHashes; i++)
            hashes[i] = HashOf((uint)i + 1);
        return ImmutableCollectionsMarshal.AsImmutableArray(hashes);
    }

    /// <summary>True when <paramref name="other"/> was started at the same place later.</summary>
    public bool IsPredecessorOf(SiloAddress other) => Generation < other.Generation && Endpoint.Equals(other.Endpoint);

    /// <summary>True when <paramref name="other"/> was started at the same place earlier.</summary>
    public bool IsSuccessorOf(SiloAddress other) => other.IsPredecessorOf(this);

    /// <inheritdoc/>
    public bool Equals(SiloAddress? other) =>
        ReferenceEquals(this, other)
        || (other is not null && _hash == other._hash && Generation == other.Generation && Endpoint.Equals(other.Endpoint));

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as SiloAddress);

    /// <inheritdoc/>
    public override int GetHashCode() => (int)_hash;

    /// <summary>Orders by generation, then port, then address: the oldest start first.</summary>
    public int CompareTo(SiloAddress? other)
    {
        if (other is null)
            return 1;
        var order = Generation.CompareTo(other.Generation);
        if (order == 0)
            order = Endpoint.Port.CompareTo(other.Endpoint.Port);
        return order != 0 ? order : CompareAddresses(other);
    }

    /// <summary>The text form that <see cref="Parse(string)"/> reads: <c>ip:port@generation</c>.</summary>
    public string ToParsableString() => string.Create(CultureInfo.InvariantCulture, $"{Endpoint}@{Generation}");

    /// <summary>The text form for people, with the hash.</summary>
    public string ToStringWithHashCode() => string.Create(CultureInfo.InvariantCulture, $"{this}/x{_hash:X8}");

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{(IsClient ? 'C' : 'S')}{Endpoint}:{Generation}");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(CultureInfo.InvariantCulture, $"{(IsClient ? 'C' : 'S')}{Endpoint}:{Generation}", out charsWritten);

    private int CompareAddresses(SiloAddress other)
    {
        Span<byte> mine = stackalloc byte[16];
        Span<byte> theirs = stackalloc byte[16];
        Endpoint.Address.TryWriteBytes(mine, out var mineLength);
        other.Endpoint.Address.TryWriteBytes(theirs, out var theirsLength);
        var order = mineLength.CompareTo(theirsLength);
        return order != 0 ? order : mine[..mineLength].SequenceCompareTo(theirs[..theirsLength]);
    }

    private uint HashOf(uint seed)
    {
        Span<byte> bytes = stackalloc byte[24];
        Endpoint.Address.TryWriteBytes(bytes, out var length);
        BinaryPrimitives.WriteInt32LittleEndian(bytes[length..], Endpoint.Port);
        BinaryPrimitives.WriteInt32LittleEndian(bytes[(length + 4)..], Generation);
        return StableHash.HashOf(bytes[..(length + 8)], seed);
    }
}

/// <summary>The silo of this process.</summary>
public interface ILocalSiloDetails
{
    /// <summary>Its cluster.</summary>
    string ClusterId { get; }

    /// <summary>Its machine's name.</summary>
    string DnsHostName { get; }

    /// <summary>Where it listens for clients.</summary>
    SiloAddress GatewayAddress { get; }

    /// <summary>Its name.</summary>
    string Name { get; }

    /// <summary>Its address.</summary>
    SiloAddress SiloAddress { get; }
}

/// <summary>The status of a silo. It only advances.</summary>
public enum SiloStatus
{
    /// <summary>Unknown.</summary>
    None = 0,

    /// <summary>It has an entry in the membership table.</summary>
    Created = 1,

    /// <summary>It is about to join.</summary>
    Joining = 2,

    /// <summary>It runs grains.</summary>
    Active = 3,

    /// <summary>It ends in order and takes no new grains.</summary>
    ShuttingDown = 4,

    /// <summary>It ends at once.</summary>
    Stopping = 5,

    /// <summary>It is gone, or was declared so.</summary>
    Dead = 6,
}
