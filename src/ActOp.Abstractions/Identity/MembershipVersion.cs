using System.Globalization;
using System.Text.Json.Serialization;
using ActOp.Identity;

namespace Orleans.Runtime;

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
