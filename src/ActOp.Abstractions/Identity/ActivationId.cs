using System.Runtime.InteropServices;
using System.Text.Json.Serialization;
using ActOp.Identity;

namespace Orleans.Runtime;

/// <summary>The identity of one activation of a grain. The text form is <c>@</c> and 32 hex digits.</summary>
[JsonConverter(typeof(ActivationIdJsonConverter))]
public readonly struct ActivationId : IEquatable<ActivationId>, ISpanFormattable
{
    /// <summary>The activation with this id.</summary>
    public ActivationId(Guid key) => Key = key;

    /// <summary>True for the default value.</summary>
    public bool IsDefault => Key == Guid.Empty;

    internal Guid Key { get; }

    /// <inheritdoc/>
    public static bool operator ==(ActivationId left, ActivationId right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(ActivationId left, ActivationId right) => !left.Equals(right);

    /// <summary>Reads what <see cref="ToParsableString"/> wrote.</summary>
    /// <exception cref="FormatException">The text is no activation id.</exception>
    public static ActivationId FromParsableString(string activationId)
    {
        ArgumentNullException.ThrowIfNull(activationId);
        if (activationId.Length == 33 && activationId[0] == '@' && Guid.TryParseExact(activationId.AsSpan(1), "N", out var key))
            return new ActivationId(key);
        throw new FormatException("'" + activationId + "' is not an activation id: expected @ and 32 hex digits.");
    }

    /// <summary>The same id for the same grain in every process; for targets that exist once per silo.</summary>
    public static ActivationId GetDeterministic(GrainId grain)
    {
        Span<uint> words = stackalloc uint[4];
        for (var seed = 0u; seed < 4; seed++)
            words[(int)seed] = StableHash.Join(StableHash.Of(grain.Type.AsSpan(), seed), StableHash.Of(grain.Key.AsSpan(), seed));
        return new ActivationId(new Guid(MemoryMarshal.AsBytes(words)));
    }

    /// <summary>A fresh id.</summary>
    public static ActivationId NewId() => new(Guid.NewGuid());

    /// <inheritdoc/>
    public readonly bool Equals(ActivationId other) => Key == other.Key;

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is ActivationId other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => Key.GetHashCode();

    /// <summary>The text form, which <see cref="FromParsableString"/> reads.</summary>
    public string ToParsableString() => ToString();

    /// <inheritdoc/>
    public readonly override string ToString() => "@" + Key.ToString("N");

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite($"@{Key:N}", out charsWritten);
}
