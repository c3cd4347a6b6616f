using System.Runtime.CompilerServices;
using System.Text.Json.Serialization;
using Orleans.Metadata;

namespace Orleans.Runtime;

/// <summary>The name of a kind of grain, as grain ids carry it.</summary>
[JsonConverter(typeof(GrainTypeJsonConverter))]
public readonly struct GrainType : IEquatable<GrainType>, IComparable<GrainType>, ISpanFormattable
{
    /// <summary>The type with this name.</summary>
    public GrainType(IdSpan id) => Value = id;

    /// <summary>The type with this name in UTF-8; takes the array over.</summary>
    public GrainType(byte[] value) => Value = new IdSpan(value);

    /// <summary>True when there is no name.</summary>
    public bool IsDefault => Value.IsDefault;

    /// <summary>The name.</summary>
    public IdSpan Value { get; }

    /// <inheritdoc/>
    public static bool operator ==(GrainType left, GrainType right) => left.Equals(right);

    /// <inheritdoc/>
    public static bool operator !=(GrainType left, GrainType right) => !left.Equals(right);

    /// <summary>The type with this name.</summary>
    /// <exception cref="ArgumentException">The name is empty.</exception>
    public static GrainType Create(string value)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(value);
        return new GrainType(IdSpan.Create(value));
    }

    /// <summary>The name's bytes themselves, which must not be changed; null for the default value.</summary>
    public static byte[]? UnsafeGetArray(GrainType id) => IdSpan.UnsafeGetArray(id.Value);

    /// <summary>The name in UTF-8.</summary>
    public readonly ReadOnlySpan<byte> AsSpan() => Value.AsSpan();

    /// <summary>A hash that is the same in every process.</summary>
    public readonly uint GetUniformHashCode() => Value.GetUniformHashCode();

    /// <inheritdoc/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly bool Equals(GrainType other) => Value.Equals(other.Value);

    /// <inheritdoc/>
    public readonly override bool Equals(object? obj) => obj is GrainType other && Equals(other);

    /// <inheritdoc/>
    public readonly override int GetHashCode() => Value.GetHashCode();

    /// <summary>Orders by the bytes of the name.</summary>
    public readonly int CompareTo(GrainType other) => Value.CompareTo(other.Value);

    /// <inheritdoc/>
    public readonly override string ToString() => Value.ToString();

    string IFormattable.ToString(string? format, IFormatProvider? formatProvider) => ToString();

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        Value.TryFormat(destination, out charsWritten);
}

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

    bool ISpanFormattable.TryFormat(Span<char> destination, out int charsWritten, ReadOnlySpan<char> format, IFormatProvider? provider) =>
        Value.TryFormat(destination, out charsWritten);
}

/// <summary>Names the marked grain interface, which otherwise is called by its full name.</summary>
[AttributeUsage(AttributeTargets.Interface, Inherited = false)]
public sealed class GrainInterfaceTypeAttribute : Attribute, IGrainInterfaceTypeProviderAttribute
{
    private readonly GrainInterfaceType _type;

    /// <summary>Sets the name.</summary>
    public GrainInterfaceTypeAttribute(string value) => _type = GrainInterfaceType.Create(value);

    /// <inheritdoc/>
    public GrainInterfaceType GetGrainInterfaceType(IServiceProvider services, Type type) => _type;
}
