using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text.Json.Serialization;

namespace Orleans.Runtime;

/// <summary>Where a grain is active: its id, the silo, the activation there and the view in which it was registered.</summary>
public sealed class GrainAddress : IEquatable<GrainAddress>, ISpanFormattable
{
    /// <summary>The activation; default when unknown.</summary>
    public ActivationId ActivationId { get; init; }

    /// <summary>The grain.</summary>
    public GrainId GrainId { get; init; }

    /// <summary>True when grain, activation and silo are known.</summary>
    [JsonIgnore]
    [MemberNotNullWhen(true, nameof(SiloAddress))]
    public bool IsComplete => !GrainId.IsDefault && !ActivationId.IsDefault && SiloAddress is not null;

    /// <summary>The view in which the activation was registered.</summary>
    public MembershipVersion MembershipVersion { get; init; } = MembershipVersion.MinValue;

    /// <summary>The silo; null when unknown.</summary>
    public SiloAddress? SiloAddress { get; init; }

    /// <inheritdoc/>
    public static bool operator ==(GrainAddress? left, GrainAddress? right) => left is null ? right is null : left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainAddress? left, GrainAddress? right) => !(left == right);

    /// <summary>
    /// True when grain, silo and activation are the same; an activation that is unknown on either side matches any. The view is not
    /// compared.
    /// </summary>
    public bool Matches(GrainAddress? other) =>
        other is not null
        && GrainId.Equals(other.GrainId)
        && Equals(SiloAddress, other.SiloAddress)
        && (ActivationId.IsDefault || other.ActivationId.IsDefault || ActivationId.Equals(other.ActivationId));

    /// <inheritdoc/>
    public bool Equals(GrainAddress? other) =>
        ReferenceEquals(this, other)
        || (other is not null && GrainId.Equals(other.GrainId) && ActivationId.Equals(other.ActivationId)
            && Equals(SiloAddress, other.SiloAddress) && MembershipVersion.Equals(other.MembershipVersion));

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as GrainAddress);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(GrainId, ActivationId, SiloAddress);

    /// <inheritdoc/>
    public override string ToString() =>
        "[" + nameof(GrainAddress) + " GrainId " + GrainId + ", ActivationId: " + ActivationId + ", SiloAddress: " + SiloAddress + "]";

    /// <summary>The text form with the view.</summary>
    public string ToFullString() =>
        "[" + nameof(GrainAddress) + " GrainId " + GrainId + ", ActivationId: " + ActivationId + ", SiloAddress: " + SiloAddress +
            ", MembershipVersion: " + MembershipVersion + "]";

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite(
            $"[{nameof(GrainAddress)} GrainId {GrainId}, ActivationId: {ActivationId}, SiloAddress: {SiloAddress}]", out charsWritten);
}

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
            words[(int)seed] = StableHash.Join(StableHash.HashOf(grain.Type.AsSpan(), seed), StableHash.HashOf(grain.Key.AsSpan(), seed));
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

/// <summary>The number of a membership view; a later view has a higher one.</summary>
[JsonConverter(typeof(MembershipVersionJsonConverter))]
public readonly struct MembershipVersion : IEquatable<MembershipVersion>, IComparable<MembershipVersion>, ISpanFormattable
{
    /// <summary>The version with this number.</summary>
    public MembershipVersion(long version) => Value = version;

    /// <summary>Before every view.</summary>
    public static MembershipVersion MinValue => new(long.MinValue);

    /// <summary>The number.</summary>
    public long Value { get; init; }

    /// <inheritdoc/>
    public static bool operator ==(MembershipVersion left, MembershipVersion right) => left.Value == right.Value;

    /// <inheritdoc/>
    public static bool operator !=(MembershipVersion left, MembershipVersion right) => left.Value != right.Value;

    /// <inheritdoc/>
    public static bool operator >(MembershipVersion left, MembershipVersion right) => left.Value > right.Value;

    /// <inheritdoc/>
    public static bool operator <(MembershipVersion left, MembershipVersion right) => left.Value < right.Value;

    /// <inheritdoc/>
    public static bool operator >=(MembershipVersion left, MembershipVersion right) => left.Value >= right.Value;

    /// <inheritdoc/>
    public static bool operator <=(MembershipVersion left, MembershipVersion right) => left.Value <= right.Value;

    /// <inheritdoc/>
    public readonly bool Equals(MembershipVersion other) => Value == other.Value;

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is MembershipVersion other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => Value.GetHashCode();

    /// <inheritdoc/>
    public readonly int CompareTo(MembershipVersion other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public readonly override string ToString() => Value.ToString(CultureInfo.InvariantCulture);

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        Value.TryFormat(destination, out charsWritten, provider: CultureInfo.InvariantCulture);
}
