using System.Runtime.CompilerServices;
using System.Text.Json.Serialization;

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
[AttributeUsage(AttributeTargets.Interface)]
public sealed class GrainInterfaceTypeAttribute : Attribute, IGrainInterfaceTypeProviderAttribute
{
    private readonly GrainInterfaceType _type;

    /// <summary>Sets the name.</summary>
    public GrainInterfaceTypeAttribute(string value) => _type = GrainInterfaceType.Create(value);

    /// <inheritdoc/>
    public GrainInterfaceType GetGrainInterfaceType(IServiceProvider services, Type type) => _type;
}

/// <summary>The beginnings of the names of grain types that the runtime uses for what is no grain.</summary>
public static class GrainTypePrefix
{
    /// <summary>Of all of them.</summary>
    public const string SystemPrefix = "sys.";

    /// <summary>Of grain services and of the targets that Orleans calls so.</summary>
    public const string SystemTargetPrefix = SystemPrefix + "svc.";

    /// <summary>Of grain services.</summary>
    public const string GrainServicePrefix = SystemTargetPrefix + "user.";

    /// <summary>Of clients.</summary>
    public const string ClientPrefix = SystemPrefix + "client";

    /// <summary>Of grains of old versions of Orleans; the runtime makes none.</summary>
    public const string LegacyGrainPrefix = SystemPrefix + "grain.v1.";

    /// <summary><see cref="SystemTargetPrefix"/> in UTF-8.</summary>
    public static readonly ReadOnlyMemory<byte> SystemTargetPrefixBytes = "sys.svc."u8.ToArray();

    /// <summary><see cref="GrainServicePrefix"/> in UTF-8.</summary>
    public static readonly ReadOnlyMemory<byte> GrainServicePrefixBytes = "sys.svc.user."u8.ToArray();

    /// <summary><see cref="ClientPrefix"/> in UTF-8.</summary>
    public static readonly ReadOnlyMemory<byte> ClientPrefixBytes = "sys.client"u8.ToArray();

    /// <summary><see cref="LegacyGrainPrefix"/> in UTF-8.</summary>
    public static readonly ReadOnlyMemory<byte> LegacyGrainPrefixBytes = "sys.grain.v1."u8.ToArray();

    /// <summary>The grain type of clients.</summary>
    public static readonly GrainType ClientGrainType = GrainType.Create(ClientPrefix);

    /// <summary>Whether it is a client.</summary>
    public static bool IsClient(this in GrainType type) => type.AsSpan().StartsWith("sys.client"u8);

    /// <inheritdoc cref="IsClient(in GrainType)"/>
    public static bool IsClient(this in GrainId id) => id.Type.IsClient();

    /// <summary>Whether it is a grain of an old version of Orleans.</summary>
    public static bool IsLegacyGrain(this in GrainType type) => type.AsSpan().StartsWith("sys.grain.v1."u8);

    /// <summary>Whether it is a grain service.</summary>
    public static bool IsGrainService(this in GrainType type) => type.AsSpan().StartsWith("sys.svc.user."u8);

    /// <summary>Whether it is a part of a silo that is called like a grain: a grain service, or a part of the runtime.</summary>
    public static bool IsSystemTarget(this in GrainType type) => type.AsSpan().StartsWith("sys."u8)
        && !type.AsSpan().SequenceEqual("sys.observer"u8) && !type.IsClient() && !type.IsLegacyGrain();

    /// <inheritdoc cref="IsSystemTarget(in GrainType)"/>
    public static bool IsSystemTarget(this in GrainId id) => id.Type.IsSystemTarget();
}
