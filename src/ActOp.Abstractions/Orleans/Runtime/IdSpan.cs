using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>An immutable piece of UTF-8 text that identifies something, with its hash computed once.</summary>
/// <remarks>The hash is XXH32 of the bytes; it is the same in every process.</remarks>
[JsonConverter(typeof(IdSpanJsonConverter))]
public readonly struct IdSpan : IEquatable<IdSpan>, IComparable<IdSpan>, ISpanFormattable
{
    private readonly byte[]? _value;
    private readonly int _hash;

    /// <summary>Takes over <paramref name="value"/>, which must not change afterwards.</summary>
    /// <param name="value">UTF-8 text.</param>
    public IdSpan(byte[] value)
    {
        ArgumentNullException.ThrowIfNull(value);
        _value = value;
        _hash = (int)StableHash.HashOf(value);
    }

    private IdSpan(byte[]? value, int hash)
    {
        _value = value;
        _hash = hash;
    }

    /// <summary>True for the default value and for empty text.</summary>
    public bool IsDefault => _value is null || _value.Length == 0;

    /// <summary>The text in UTF-8.</summary>
    public ReadOnlyMemory<byte> Value => _value;

    /// <inheritdoc/>
    public static bool operator ==(IdSpan left, IdSpan right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(IdSpan left, IdSpan right) => !left.Equals(right);

    /// <summary>The id whose text is <paramref name="id"/>.</summary>
    public static IdSpan Create(string id)
    {
        ArgumentNullException.ThrowIfNull(id);
        return new IdSpan(Encoding.UTF8.GetBytes(id));
    }

    /// <summary>An id from its bytes and the hash they are known to have; for deserializers. A wrong hash breaks equality.</summary>
    public static IdSpan UnsafeCreate(byte[]? value, int hashCode) => new(value, hashCode);

    /// <summary>The bytes themselves, which must not be changed; null for the default value.</summary>
    public static byte[]? UnsafeGetArray(IdSpan id) => id._value;

    /// <summary>The text in UTF-8.</summary>
    public readonly ReadOnlySpan<byte> AsSpan() => _value;

    /// <summary>A hash that is the same in every process.</summary>
    public readonly uint GetUniformHashCode() => (uint)_hash;

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool Equals(IdSpan other) =>
        _hash == other._hash && (ReferenceEquals(_value, other._value) || AsSpan().SequenceEqual(other.AsSpan()));

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is IdSpan other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => _hash;

    /// <summary>Orders by bytes.</summary>
    public readonly int CompareTo(IdSpan other) => AsSpan().SequenceCompareTo(other.AsSpan());

    /// <summary>Writes the text; false when it does not fit.</summary>
    public readonly bool TryFormat(Span<char> destination, out int charsWritten) =>
        Encoding.UTF8.TryGetChars(AsSpan(), destination, out charsWritten);

    /// <inheritdoc/>
    public readonly override string ToString() => _value is null ? "" : Encoding.UTF8.GetString(_value);

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        TryFormat(destination, out charsWritten);
}
