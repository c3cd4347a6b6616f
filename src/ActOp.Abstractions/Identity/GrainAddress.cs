using System.Diagnostics.CodeAnalysis;
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
        || (other is not null && GrainId.Equals(other.GrainId) && ActivationId.Equals(other.ActivationId) && Equals(SiloAddress, other.SiloAddress) && MembershipVersion.Equals(other.MembershipVersion));

    /// <inheritdoc/>
    public override bool Equals(object? obj) => Equals(obj as GrainAddress);

    /// <inheritdoc/>
    public override int GetHashCode() => HashCode.Combine(GrainId, ActivationId, SiloAddress);

    /// <inheritdoc/>
    public override string ToString() => "[" + nameof(GrainAddress) + " GrainId " + GrainId + ", ActivationId: " + ActivationId + ", SiloAddress: " + SiloAddress + "]";

    /// <summary>The text form with the view.</summary>
    public string ToFullString() => "[" + nameof(GrainAddress) + " GrainId " + GrainId + ", ActivationId: " + ActivationId + ", SiloAddress: " + SiloAddress + ", MembershipVersion: " + MembershipVersion + "]";

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        destination.TryWrite($"[{nameof(GrainAddress)} GrainId {GrainId}, ActivationId: {ActivationId}, SiloAddress: {SiloAddress}]", out charsWritten);
}
