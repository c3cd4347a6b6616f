using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Text.Json.Serialization;
using ActOp.Identity;

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
        TryParse(value, out var id) ? id : throw new ArgumentException("'" + value + "' is not a grain id: expected type/key.", nameof(value));

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
