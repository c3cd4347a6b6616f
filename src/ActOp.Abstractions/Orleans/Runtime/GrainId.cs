using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>The identity of a grain: its type and its key. The text form is <c>type/key</c>.</summary>
[JsonConverter(typeof(GrainIdJsonConverter))]
public readonly struct GrainId : IEquatable<GrainId>, IComparable<GrainId>, ISpanFormattable
{
    /// <summary>The grain of <paramref name="type"/> with <paramref name="key"/>.</summary>
    public GrainId(GrainType type, IdSpan key)
    {
        Type = type;
        Key = key;
    }

    /// <summary>True when neither a type nor a key is set.</summary>
    public bool IsDefault => Type.IsDefault && Key.IsDefault;

    /// <summary>Which of the grains of its type.</summary>
    public IdSpan Key { get; }

    /// <summary>The kind of grain.</summary>
    public GrainType Type { get; }

    /// <inheritdoc/>
    public static bool operator ==(GrainId left, GrainId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainId left, GrainId right) => !left.Equals(right);

    /// <summary>The grain of <paramref name="type"/> with <paramref name="key"/>.</summary>
    public static GrainId Create(GrainType type, IdSpan key) => new(type, key);

    /// <summary>The grain of <paramref name="type"/> with the text <paramref name="key"/> as its key.</summary>
    /// <exception cref="ArgumentException">The key is empty.</exception>
    public static GrainId Create(GrainType type, string key)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(key);
        return new GrainId(type, IdSpan.Create(key));
    }

    /// <summary>The grain of <paramref name="type"/> with the text <paramref name="key"/> as its key.</summary>
    /// <exception cref="ArgumentException">The type or the key is empty.</exception>
    public static GrainId Create(string type, string key) => Create(GrainType.Create(type), key);

    /// <summary>Reads <c>type/key</c>. The first slash ends the type.</summary>
    /// <exception cref="ArgumentException">The text has no type, no slash or no key.</exception>
    public static GrainId Parse(string value) =>
        TryParse(value, out var id)
            ? id : throw new ArgumentException("'" + value + "' is not a grain id: expected type/key.", nameof(value));

    /// <summary>Reads <c>type/key</c>; false when the text has no type, no slash or no key.</summary>
    public static bool TryParse([NotNullWhen(true)] string? value, out GrainId result)
    {
        result = default;
        var slash = value?.IndexOf('/', StringComparison.Ordinal) ?? -1;
        if (slash < 1 || slash == value!.Length - 1)
            return false;
        result = new GrainId(new GrainType(IdSpan.Create(value[..slash])), IdSpan.Create(value[(slash + 1)..]));
        return true;
    }

    /// <summary>A hash that is the same in every process.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly uint GetUniformHashCode() => StableHash.Join(Type.GetUniformHashCode(), Key.GetUniformHashCode());

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool Equals(GrainId other) => Key.Equals(other.Key) && Type.Equals(other.Type);

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is GrainId other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => (int)GetUniformHashCode();

    /// <summary>Orders by type, then by key.</summary>
    public readonly int CompareTo(GrainId other)
    {
        var byType = Type.CompareTo(other.Type);
        return byType != 0 ? byType : Key.CompareTo(other.Key);
    }

    /// <inheritdoc/>
    public readonly override string ToString() => IsDefault ? "" : Type.ToString() + "/" + Key.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider)
    {
        charsWritten = 0;
        if (IsDefault)
            return true;
        if (!Type.Value.TryFormat(destination, out var type) || type == destination.Length)
            return false;
        destination[type] = '/';
        if (!Key.TryFormat(destination[(type + 1)..], out var key))
            return false;
        charsWritten = type + 1 + key;
        return true;
    }
}

/// <summary>Converts between grain keys and the Guids, numbers and key extensions that they stand for.</summary>
/// <remarks>
/// A Guid key is 32 lower-case hex digits; a number is its 64 bits in upper-case hex without padding; an extension
/// follows after a plus sign, as it is.
/// </remarks>
public static class GrainIdKeyExtensions
{
    private const int GuidLength = 32;
    private const int MaxIntegerLength = 16;

    /// <summary>The key of a Guid with an extension in UTF-8; without one when it is empty.</summary>
    public static IdSpan CreateGuidKey(Guid key, ReadOnlySpan<byte> keyExtension)
    {
        Span<byte> text = stackalloc byte[GuidLength];
        Utf8Formatter.TryFormat(key, text, out _, 'N');
        return Join(text, keyExtension);
    }

    /// <summary>The key of a Guid with an extension; without one when it is null, empty or blank.</summary>
    public static IdSpan CreateGuidKey(Guid key, string? keyExtension) =>
        string.IsNullOrWhiteSpace(keyExtension) ? CreateGuidKey(key) : CreateGuidKey(key, Encoding.UTF8.GetBytes(keyExtension));

    /// <summary>The key of a Guid.</summary>
    public static IdSpan CreateGuidKey(Guid key) => CreateGuidKey(key, []);

    /// <summary>The key of a number with an extension in UTF-8; without one when it is empty.</summary>
    public static IdSpan CreateIntegerKey(long key, ReadOnlySpan<byte> keyExtension)
    {
        Span<byte> text = stackalloc byte[MaxIntegerLength];
        Utf8Formatter.TryFormat(key, text, out var length, 'X');
        return Join(text[..length], keyExtension);
    }

    /// <summary>The key of a number with an extension; without one when it is null, empty or blank.</summary>
    public static IdSpan CreateIntegerKey(long key, string? keyExtension) =>
        string.IsNullOrWhiteSpace(keyExtension) ? CreateIntegerKey(key) : CreateIntegerKey(key, Encoding.UTF8.GetBytes(keyExtension));

    /// <summary>The key of a number.</summary>
    public static IdSpan CreateIntegerKey(long key) => CreateIntegerKey(key, []);

    /// <summary>The Guid that the key stands for, and its extension or null.</summary>
    /// <exception cref="ArgumentException">The key is no Guid.</exception>
    public static Guid GetGuidKey(this GrainId grainId, out string? keyExt) =>
        grainId.TryGetGuidKey(out var key, out keyExt)
            ? key : throw new ArgumentException("The key of grain " + grainId + " is not a Guid.", nameof(grainId));

    /// <summary>The Guid that the key stands for.</summary>
    /// <exception cref="ArgumentException">The key is no Guid.</exception>
    public static Guid GetGuidKey(this GrainId grainId) => grainId.GetGuidKey(out _);

    /// <summary>The number that the key stands for, and its extension or null.</summary>
    /// <exception cref="ArgumentException">The key is no number.</exception>
    public static long GetIntegerKey(this GrainId grainId, out string? keyExt) =>
        grainId.TryGetIntegerKey(out var key, out keyExt)
            ? key : throw new ArgumentException("The key of grain " + grainId + " is not a number.", nameof(grainId));

    /// <summary>The number that the key stands for.</summary>
    /// <exception cref="ArgumentException">The key is no number.</exception>
    public static long GetIntegerKey(this GrainId grainId) => grainId.GetIntegerKey(out _);

    /// <summary>The Guid that the key stands for, and its extension or null; false when it is no Guid.</summary>
    public static bool TryGetGuidKey(this GrainId grainId, out Guid key, out string? keyExt)
    {
        key = default;
        var text = Split(grainId.Key.AsSpan(), out keyExt);
        if (text.Length == GuidLength && Utf8Parser.TryParse(text, out key, out var read, 'N') && read == GuidLength)
            return true;
        keyExt = null;
        return false;
    }

    /// <summary>The number that the key stands for, and its extension or null; false when it is no number.</summary>
    public static bool TryGetIntegerKey(this GrainId grainId, out long key, out string? keyExt)
    {
        key = default;
        var text = Split(grainId.Key.AsSpan(), out keyExt);
        if (text.Length is > 0 and <= MaxIntegerLength && Utf8Parser.TryParse(text, out key, out var read, 'X') && read == text.Length)
            return true;
        key = default;
        keyExt = null;
        return false;
    }

    private static IdSpan Join(ReadOnlySpan<byte> key, ReadOnlySpan<byte> extension)
    {
        if (extension.IsEmpty)
            return new IdSpan(key.ToArray());
        var joined = new byte[key.Length + 1 + extension.Length];
        key.CopyTo(joined);
        joined[key.Length] = (byte)'+';
        extension.CopyTo(joined.AsSpan(key.Length + 1));
        return new IdSpan(joined);
    }

    private static ReadOnlySpan<byte> Split(ReadOnlySpan<byte> key, out string? extension)
    {
        extension = null;
        var plus = key.IndexOf((byte)'+');
        if (plus < 0)
            return key;
        extension = Encoding.UTF8.GetString(key[(plus + 1)..]);
        return key[..plus];
    }
}
