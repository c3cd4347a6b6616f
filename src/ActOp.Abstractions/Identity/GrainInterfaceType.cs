using System.Text.Json.Serialization;
using ActOp.Identity;

namespace Orleans.Runtime;

/// <summary>The name of a grain interface, as references carry it.</summary>
[JsonConverter(typeof(GrainInterfaceTypeJsonConverter))]
public readonly struct GrainInterfaceType : IEquatable<GrainInterfaceType>, IComparable<GrainInterfaceType>, ISpanFormattable
{
    /// <summary>The interface with this name.</summary>
    public GrainInterfaceType(IdSpan value) => Value = value;

    /// <summary>The interface with this name.</summary>
    public GrainInterfaceType(string value) => Value = IdSpan.Create(value);

    /// <summary>True when there is no name.</summary>
    public bool IsDefault => Value.IsDefault;

    /// <summary>The name.</summary>
    public IdSpan Value { get; }

    /// <inheritdoc/>
    public static bool operator ==(GrainInterfaceType left, GrainInterfaceType right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainInterfaceType left, GrainInterfaceType right) => !left.Equals(right);

    /// <summary>The interface with this name.</summary>
    /// <exception cref="ArgumentException">The name is empty.</exception>
    public static GrainInterfaceType Create(string value)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(value);
        return new GrainInterfaceType(value);
    }

    /// <inheritdoc/>
    public readonly bool Equals(GrainInterfaceType other) => Value.Equals(other.Value);

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is GrainInterfaceType other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => Value.GetHashCode();

    /// <summary>Orders by the bytes of the name.</summary>
    public readonly int CompareTo(GrainInterfaceType other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public readonly override string ToString() => Value.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) => Value.TryFormat(destination, out charsWritten);
}
