using System.Buffers.Text;
using System.Runtime.Serialization;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>The identity of a stream within its provider: a namespace and a key, both in UTF-8.</summary>
[JsonConverter(typeof(StreamIdJsonConverter))]
public readonly struct StreamId : IEquatable<StreamId>, IComparable<StreamId>, ISerializable, ISpanFormattable, IUtf8SpanFormattable
{
    private readonly NamespacedKey _key;

    internal StreamId(byte[] full, ushort namespaceLength) => _key = new NamespacedKey(full, namespaceLength);

    private StreamId(NamespacedKey key) => _key = key;

    private StreamId(SerializationInfo info, StreamingContext context)
        : this((byte[])info.GetValue("fk", typeof(byte[]))!, info.GetUInt16("ki"))
    {
    }

    /// <summary>The namespace followed by the key, in UTF-8.</summary>
    public ReadOnlyMemory<byte> FullKey => _key.Full;

    /// <summary>The namespace in UTF-8; empty if there is none.</summary>
    public ReadOnlyMemory<byte> Namespace => _key.Namespace;

    /// <summary>The key in UTF-8.</summary>
    public ReadOnlyMemory<byte> Key => _key.Key;

    /// <inheritdoc/>
    public static bool operator ==(StreamId left, StreamId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(StreamId left, StreamId right) => !left.Equals(right);

    /// <summary>The stream with that namespace and key.</summary>
    public static StreamId Create(ReadOnlySpan<byte> ns, ReadOnlySpan<byte> key) => new(NamespacedKey.Create(ns, key, "stream"));

    /// <summary>The stream whose key is a <see cref="Guid"/>, as 32 digits.</summary>
    public static StreamId Create(string? ns, Guid key) => new(NamespacedKey.Create(ns, key, "stream"));

    /// <summary>The stream whose key is a number, as hexadecimal digits.</summary>
    public static StreamId Create(string? ns, long key) => new(NamespacedKey.Create(ns, key, "stream"));

    /// <summary>The stream whose key is a text.</summary>
    public static StreamId Create(string? ns, string key) => new(NamespacedKey.Create(ns, key, "stream"));

    /// <summary>The stream with the namespace and the key of <paramref name="streamIdentity"/>.</summary>
    public static StreamId Create(Streams.IStreamIdentity streamIdentity)
    {
        ArgumentNullException.ThrowIfNull(streamIdentity);
        return Create(streamIdentity.Namespace, streamIdentity.Guid);
    }

    /// <summary>Reads what <see cref="ToString()"/> has written.</summary>
    /// <exception cref="ArgumentException">There is no slash in it, or no key behind it.</exception>
    public static StreamId Parse(ReadOnlySpan<byte> value)
    {
        var slash = value.IndexOf((byte)'/');
        if (slash < 0 || slash == value.Length - 1)
        {
            throw new ArgumentException(
                "\"" + Encoding.UTF8.GetString(value) + "\" is no stream id: it must be namespace/key.", nameof(value));
        }

        var ns = value[..slash];
        return Create(ns.SequenceEqual("null"u8) ? default : ns, value[(slash + 1)..]);
    }

    /// <summary>The key as text.</summary>
    public string GetKeyAsString() => _key.KeyText;

    /// <summary>The namespace as text; null if there is none.</summary>
    public string? GetNamespace() => _key.NamespaceText;

    /// <inheritdoc/>
    public bool Equals(StreamId other) => _key.Equals(other._key);

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is StreamId other && Equals(other);

    /// <summary>A hash of the bytes that is the same in every process.</summary>
    public override int GetHashCode() => _key.GetHashCode();

    /// <summary>Orders by namespace, then by key.</summary>
    public int CompareTo(StreamId other) => _key.CompareTo(other._key);

    /// <summary>The namespace, or <c>null</c>, a slash, and the key.</summary>
    public override string ToString() => _key.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        _key.TryFormat(destination, out charsWritten);

    bool IUtf8SpanFormattable.TryFormat(
        Span<byte> utf8Destination, out int bytesWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
            Encoding.UTF8.TryGetBytes(ToString(), utf8Destination, out bytesWritten);

    void ISerializable.GetObjectData(SerializationInfo info, StreamingContext context)
    {
        info.AddValue("fk", _key.Full);
        info.AddValue("ki", _key.NamespaceLength);
    }
}

/// <summary>A namespace and a key in UTF-8, one behind the other: what the ids of streams and of channels have in common.</summary>
internal readonly struct NamespacedKey : IEquatable<NamespacedKey>, IComparable<NamespacedKey>
{
    private readonly byte[]? _full;
    private readonly ushort _namespaceLength;
    private readonly int _hash;

    internal NamespacedKey(byte[] full, ushort namespaceLength)
    {
        _full = full;
        _namespaceLength = namespaceLength;
        _hash = (int)StableHash.HashOf(full);
    }

    internal byte[]? Full => _full;

    internal ushort NamespaceLength => _namespaceLength;

    internal ReadOnlyMemory<byte> Namespace => _full.AsMemory(0, _namespaceLength);

    internal ReadOnlyMemory<byte> Key => _full.AsMemory(_namespaceLength);

    internal string KeyText => Encoding.UTF8.GetString(Key.Span);

    /// <summary>Null if there is none.</summary>
    internal string? NamespaceText => _namespaceLength == 0 ? null : Encoding.UTF8.GetString(Namespace.Span);

    /// <summary>A key; <paramref name="owner"/> is the word for what it belongs to, for errors.</summary>
    internal static NamespacedKey Create(ReadOnlySpan<byte> ns, ReadOnlySpan<byte> key, string owner)
    {
        if (key.IsEmpty)
            throw new ArgumentException("The key of a " + owner + " must not be empty.", nameof(key));
        if (ns.Length > ushort.MaxValue)
        {
            throw new ArgumentException(
                "The namespace of a " + owner + " must not be longer than " + ushort.MaxValue + " bytes.", nameof(ns));
        }

        return new NamespacedKey([.. ns, .. key], (ushort)ns.Length);
    }

    /// <summary>A key of 32 digits.</summary>
    internal static NamespacedKey Create(string? ns, Guid key, string owner)
    {
        Span<byte> digits = stackalloc byte[32];
        Utf8Formatter.TryFormat(key, digits, out _, 'N');
        return Create(Bytes(ns), digits, owner);
    }

    /// <summary>A key of hexadecimal digits.</summary>
    internal static NamespacedKey Create(string? ns, long key, string owner)
    {
        Span<byte> digits = stackalloc byte[16];
        Utf8Formatter.TryFormat(key, digits, out var length, 'X');
        return Create(Bytes(ns), digits[..length], owner);
    }

    internal static NamespacedKey Create(string? ns, string key, string owner)
    {
        ArgumentNullException.ThrowIfNull(key);
        return Create(Bytes(ns), Bytes(key), owner);
    }

    public bool Equals(NamespacedKey other) =>
        _hash == other._hash && _namespaceLength == other._namespaceLength && _full.AsSpan().SequenceEqual(other._full);

    public override bool Equals(object? obj) => obj is NamespacedKey other && Equals(other);

    public override int GetHashCode() => _hash;

    public int CompareTo(NamespacedKey other)
    {
        var order = Namespace.Span.SequenceCompareTo(other.Namespace.Span);
        return order != 0 ? order : Key.Span.SequenceCompareTo(other.Key.Span);
    }

    public override string ToString() => (NamespaceText ?? "null") + "/" + KeyText;

    internal bool TryFormat(Span<char> destination, out int charsWritten)
    {
        var text = ToString();
        charsWritten = text.TryCopyTo(destination) ? text.Length : 0;
        return charsWritten > 0;
    }

    private static byte[] Bytes(string? text) => text is null ? [] : Encoding.UTF8.GetBytes(text);
}

/// <summary>A stream and the provider that it belongs to.</summary>
public readonly struct QualifiedStreamId : IEquatable<QualifiedStreamId>, IComparable<QualifiedStreamId>, ISpanFormattable
{
    /// <summary>The stream.</summary>
    public readonly StreamId StreamId;

    /// <summary>The name of the provider.</summary>
    public readonly string ProviderName;

    /// <summary>Names a stream of a provider.</summary>
    public QualifiedStreamId(string providerName, StreamId streamId)
    {
        ProviderName = providerName;
        StreamId = streamId;
    }

    /// <inheritdoc/>
    public static bool operator ==(QualifiedStreamId left, QualifiedStreamId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(QualifiedStreamId left, QualifiedStreamId right) => !left.Equals(right);

    /// <inheritdoc/>
    public bool Equals(QualifiedStreamId other) => StreamId.Equals(other.StreamId) && ProviderName == other.ProviderName;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is QualifiedStreamId other && Equals(other);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(ProviderName, StreamId);

    /// <summary>Orders by stream, then by provider.</summary>
    public int CompareTo(QualifiedStreamId other)
    {
        var order = StreamId.CompareTo(other.StreamId);
        return order != 0 ? order : string.CompareOrdinal(ProviderName, other.ProviderName);
    }

    /// <summary>The provider, a slash, and the stream.</summary>
    public override string ToString() => ProviderName + "/" + StreamId;

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        var text = ToString();
        charsWritten = text.TryCopyTo(destination) ? text.Length : 0;
        return charsWritten > 0;
    }
}

/// <summary>The id of a subscription.</summary>
public sealed class GuidId : IEquatable<GuidId>, IComparable<GuidId>, ISpanFormattable
{
    /// <summary>The value.</summary>
    public readonly Guid Guid;

    private GuidId(Guid guid) => Guid = guid;

    /// <inheritdoc/>
    public static bool operator ==(GuidId? left, GuidId? right) => left is null ? right is null : left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GuidId? left, GuidId? right) => !(left == right);

    /// <summary>The id with that value.</summary>
    public static GuidId GetGuidId(Guid guid) => new(guid);

    /// <summary>A new id.</summary>
    public static GuidId GetNewGuidId() => new(Guid.NewGuid());

    /// <inheritdoc/>
    public bool Equals(GuidId? other) => other is not null && Guid == other.Guid;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as GuidId);

    /// <inheritdoc/>
    public override int GetHashCode() => Guid.GetHashCode();

    /// <inheritdoc/>
    public int CompareTo(GuidId? other) => other is null ? 1 : Guid.CompareTo(other.Guid);

    /// <inheritdoc/>
    public override string ToString() => Guid.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => Guid.ToString(format, formatProvider);

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        Guid.TryFormat(destination, out charsWritten, format);
}

/// <summary>Writes the text of a stream id.</summary>
internal sealed class StreamIdJsonConverter : JsonConverter<StreamId>
{
    public override StreamId Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        reader.GetString() is { Length: > 0 } text ? StreamId.Parse(Encoding.UTF8.GetBytes(text)) : default;

    public override void Write(Utf8JsonWriter writer, StreamId value, JsonSerializerOptions options) =>
        writer.WriteStringValue(value.FullKey.IsEmpty ? "" : value.ToString());
}
