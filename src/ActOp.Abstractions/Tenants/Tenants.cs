using System.Text;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Tenants;

/// <summary>Decides about calls and streams that cross from one tenant to another. Registered with <c>AddTenants</c>.</summary>
/// <remarks>
/// Asked on the thread that has the call, so it must answer without waiting. If it throws, the call is refused and the exception is logged.
/// </remarks>
public interface ICrossTenantAuthorizer
{
    /// <summary>Whether code of one tenant may call grains of another, or use its streams. Asked only if the two differ.</summary>
    /// <param name="sourceTenant">
    /// The tenant of the grain that calls; null for a grain without a tenant, a client, or code outside of grains.
    /// </param>
    /// <param name="targetTenant">The tenant of what is called; null for none.</param>
    bool IsAccessAuthorized(string? sourceTenant, string? targetTenant);
}

/// <summary>A call, or the use of a stream, was refused because it crosses from one tenant to another. It did not run.</summary>
/// <remarks>The details are in <see cref="Exception.Data"/>, which travels with every exception.</remarks>
public sealed class CrossTenantException : OrleansException
{
    private const string SourceKey = "SourceTenant";
    private const string TargetKey = "TargetTenant";

    /// <summary>Creates the exception with a message of its own.</summary>
    public CrossTenantException()
        : base("A call from one tenant to another was refused.")
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/>.</summary>
    public CrossTenantException(string message)
        : base(message)
    {
    }

    /// <summary>Creates the exception with <paramref name="message"/> and its cause.</summary>
    public CrossTenantException(string message, Exception innerException)
        : base(message, innerException)
    {
    }

    /// <summary>Creates the exception with its details.</summary>
    public CrossTenantException(string message, string? sourceTenant, string? targetTenant, Exception? innerException = null)
        : base(message, innerException!)
    {
        if (sourceTenant is not null)
            Data[SourceKey] = sourceTenant;
        if (targetTenant is not null)
            Data[TargetKey] = targetTenant;
    }

    /// <summary>The tenant of the caller; null for none.</summary>
    public string? SourceTenant => Data[SourceKey] as string;

    /// <summary>The tenant of what was called; null for none.</summary>
    public string? TargetTenant => Data[TargetKey] as string;
}

/// <summary>
/// Grains and streams of tenants: the tenant is a part of their keys. The text key "cart" of the tenant "acme" is "acme|cart", the number
/// 31 is "1F+acme|", and the number 31 with the extension "x" is "1F+acme|x". Silos refuse calls across tenants only with
/// <c>AddTenants</c>.
/// </summary>
public static class TenantExtensions
{
    /// <summary>A factory for the grains of a tenant: the keys that it takes are those within the tenant.</summary>
    /// <param name="grains">The factory that makes the references.</param>
    /// <param name="tenant">The name: 1 to 200 characters without '|', '+' and control characters.</param>
    /// <remarks>Whole ids (<see cref="GrainId"/>) contain their tenant and are taken as they are.</remarks>
    /// <exception cref="ArgumentException">The name is not one, or the factory is that of a tenant already.</exception>
    public static IGrainFactory ForTenant(this IGrainFactory grains, string tenant)
    {
        ArgumentNullException.ThrowIfNull(grains);
        if (grains is TenantGrains of)
            throw new ArgumentException("The factory is that of the tenant \"" + of.Tenant + "\" already.", nameof(grains));
        return new TenantGrains(grains, TenantKey.Checked(tenant));
    }

    /// <summary>
    /// A factory for the grains of the tenant of <paramref name="grain"/>; <paramref name="grains"/> itself if it has none.
    /// </summary>
    public static IGrainFactory ForTenantOf(this IGrainFactory grains, IAddressable grain) =>
        grain.GetTenant() is { } tenant ? grains.ForTenant(tenant) : grains;

    /// <summary>The tenant of a grain; null for none.</summary>
    public static string? GetTenant(this IAddressable grain) => grain.GetGrainId().GetTenant();

    /// <summary>The tenant of a grain; null for none.</summary>
    public static string? GetTenant(this GrainId grain) => TenantKey.Name(TenantKey.Extract(grain.Key.AsSpan()));

    /// <summary>
    /// The key of a grain as the factory of its tenant takes it: the text key, or the extension of a compound key; empty for a number or
    /// Guid without an extension. The whole key of a grain without a tenant.
    /// </summary>
    public static string GetKeyWithinTenant(this IAddressable grain) => TenantKey.Within(grain.GetGrainId().Key.AsSpan());

    /// <summary>The stream of the same namespace and key in a tenant.</summary>
    /// <param name="stream">The stream, which must be in no tenant.</param>
    /// <param name="tenant">The name, as in <see cref="ForTenant(IGrainFactory, string)"/>.</param>
    /// <exception cref="ArgumentException">The name is not one, or the stream is in a tenant.</exception>
    public static StreamId ForTenant(this StreamId stream, string tenant)
    {
        if (stream.GetTenant() is { } other)
            throw new ArgumentException("The stream " + stream + " is in the tenant \"" + other + "\" already.", nameof(stream));
        var name = Encoding.UTF8.GetBytes(TenantKey.Checked(tenant));
        return StreamId.Create(stream.Namespace.Span, [.. name, TenantKey.Mark, .. stream.Key.Span]);
    }

    /// <summary>The tenant of a stream; null for none.</summary>
    public static string? GetTenant(this StreamId stream) => TenantKey.Name(TenantKey.Extract(stream.Key.Span));

    /// <summary>The key of a stream within its tenant.</summary>
    public static string GetKeyWithinTenant(this StreamId stream) => TenantKey.Within(stream.Key.Span);
}

/// <summary>Where the tenant stands in a key. Holds nothing; any thread.</summary>
internal static class TenantKey
{
    internal const byte Mark = (byte)'|';
    private const byte Extension = (byte)'+';
    private const int LongestName = 200;

    /// <summary>The bytes of the tenant; empty for none.</summary>
    internal static ReadOnlySpan<byte> Extract(ReadOnlySpan<byte> key)
    {
        var mark = key.IndexOf(Mark);
        if (mark <= 0)
            return default;
        var before = key[..mark];
        return before[(before.LastIndexOf(Extension) + 1)..];
    }

    /// <summary>What a text key of the tenant begins with.</summary>
    internal static string Prefix(string tenant) => tenant + (char)Mark;

    internal static string? Name(ReadOnlySpan<byte> tenant) => tenant.IsEmpty ? null : Encoding.UTF8.GetString(tenant);

    /// <summary>What follows the tenant; all of a key without one.</summary>
    internal static string Within(ReadOnlySpan<byte> key) =>
        Encoding.UTF8.GetString(Extract(key).IsEmpty ? key : key[(key.IndexOf(Mark) + 1)..]);

    /// <exception cref="ArgumentException">It is no name of a tenant.</exception>
    internal static string Checked(string tenant)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(tenant);
        if (tenant.Length > LongestName || tenant.Any(static letter => letter is '|' or '+' || char.IsControl(letter)))
        {
            throw new ArgumentException("The name of a tenant must have 1 to " + LongestName
                + " characters and no '|', '+' or control character, but it is \"" + tenant + "\".", nameof(tenant));
        }

        return tenant;
    }
}

/// <summary>The grains of one tenant. Immutable; any thread.</summary>
internal sealed class TenantGrains(IGrainFactory grains, string tenant) : IGrainFactory
{
    private readonly string _prefix = TenantKey.Prefix(tenant);

    internal string Tenant => tenant;

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidKey =>
            Get<TGrainInterface>(GrainIdKeyExtensions.CreateGuidKey(primaryKey, _prefix), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerKey =>
            Get<TGrainInterface>(GrainIdKeyExtensions.CreateIntegerKey(primaryKey, _prefix), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(string primaryKey, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithStringKey => grains.GetGrain<TGrainInterface>(Text(primaryKey), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(Guid primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithGuidCompoundKey =>
            grains.GetGrain<TGrainInterface>(primaryKey, Text(keyExtension), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(long primaryKey, string keyExtension, string? grainClassNamePrefix = null)
        where TGrainInterface : IGrainWithIntegerCompoundKey =>
            grains.GetGrain<TGrainInterface>(primaryKey, Text(keyExtension), grainClassNamePrefix);

    public TGrainInterface GetGrain<TGrainInterface>(GrainId grainId)
        where TGrainInterface : IAddressable => grains.GetGrain<TGrainInterface>(grainId);

    public IAddressable GetGrain(GrainId grainId) => grains.GetGrain(grainId);

    public IAddressable GetGrain(GrainId grainId, GrainInterfaceType interfaceType) => grains.GetGrain(grainId, interfaceType);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey, string grainClassNamePrefix) =>
        grains.GetGrain(interfaceType, Raw(interfaceType, grainKey), grainClassNamePrefix);

    public IAddressable GetGrain(Type interfaceType, IdSpan grainKey) => grains.GetGrain(interfaceType, Raw(interfaceType, grainKey));

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey) =>
        (IGrain)grains.GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateGuidKey(grainPrimaryKey, _prefix));

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey) =>
        (IGrain)grains.GetGrain(grainInterfaceType, GrainIdKeyExtensions.CreateIntegerKey(grainPrimaryKey, _prefix));

    public IGrain GetGrain(Type grainInterfaceType, string grainPrimaryKey) => grains.GetGrain(grainInterfaceType, Text(grainPrimaryKey));

    public IGrain GetGrain(Type grainInterfaceType, Guid grainPrimaryKey, string keyExtension) =>
        grains.GetGrain(grainInterfaceType, grainPrimaryKey, Text(keyExtension));

    public IGrain GetGrain(Type grainInterfaceType, long grainPrimaryKey, string keyExtension) =>
        grains.GetGrain(grainInterfaceType, grainPrimaryKey, Text(keyExtension));

    public TGrainObserverInterface CreateObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => grains.CreateObjectReference<TGrainObserverInterface>(obj);

    public void DeleteObjectReference<TGrainObserverInterface>(IGrainObserver obj)
        where TGrainObserverInterface : IGrainObserver => grains.DeleteObjectReference<TGrainObserverInterface>(obj);

    private string Text(string key)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(key);
        return _prefix + key;
    }

    /// <summary>A key as bytes: the interface says whether it is a text, or a number or Guid with or without an extension.</summary>
    private IdSpan Raw(Type interfaceType, IdSpan key)
    {
        var bytes = key.AsSpan();
        var prefix = Encoding.UTF8.GetBytes(_prefix);
        if (typeof(IGrainWithStringKey).IsAssignableFrom(interfaceType))
            return new IdSpan([.. prefix, .. bytes]);
        var plus = bytes.IndexOf((byte)'+');
        return new IdSpan(plus < 0 ? [.. bytes, (byte)'+', .. prefix] : [.. bytes[..(plus + 1)], .. prefix, .. bytes[(plus + 1)..]]);
    }

    private TGrainInterface Get<TGrainInterface>(IdSpan key, string? grainClassNamePrefix) =>
        (TGrainInterface)grains.GetGrain(typeof(TGrainInterface), key, grainClassNamePrefix!);
}
