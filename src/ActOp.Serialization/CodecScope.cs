using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Serialization.Activators;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.TypeSystem;

namespace ActOp.Serialization;

/// <summary>
/// The silo, client or serializer that a message or a copy belongs to: its services, for objects that need some, and its codecs if the
/// application has any. Any thread.
/// </summary>
internal interface ICodecScope
{
    IServiceProvider Services { get; }

    /// <summary>The silo or client of the services, to which grain references are bound; null without one.</summary>
    CallRuntime? Runtime { get; }

    IActivatorProvider Activators { get; }

    /// <summary>True when it can be used for values that are under way when the services are disposed of.</summary>
    /// <exception cref="ObjectDisposedException">The services are gone.</exception>
    bool HasServices { get; }

    /// <summary>Checks the options of the application; called at the start of a silo or client.</summary>
    /// <exception cref="CodecNotFoundException">The options ask for it, and a type of a method has no codec or no copier.</exception>
    /// <exception cref="OrleansConfigurationException">The options have codecs that nothing uses.</exception>
    void CheckOptions();
}

/// <summary>Of an application without codecs of its own.</summary>
/// <param name="services">The application's.</param>
internal sealed class CodecScope(IServiceProvider services) : ICodecScope, IActivatorProvider, IDisposable
{
    private CallRuntime? _runtime;
    private volatile bool _isRuntimeKnown;

    public IServiceProvider Services => services;

    public CallRuntime? Runtime
    {
        get
        {
            if (!_isRuntimeKnown)
            {
                _runtime = services.GetService<CallRuntime>();
                _isRuntimeKnown = true;
            }

            return _runtime;
        }
    }

    public IActivatorProvider Activators => this;

    public bool HasServices => services.GetService<IServiceProvider>() is not null;

    public IActivator<T> GetActivator<T>() => new DefaultActivator<T>(services);

    public void CheckOptions()
    {
        var options = services.GetRequiredService<IOptions<TypeManifestOptions>>().Value;
        if (options.EnableConfigurationAnalysis == true || new[] { options.FieldCodecs, options.Serializers, options.Copiers,
            options.Converters, options.Activators }.Any(static types => types.Count > 0))
        {
            throw new OrleansConfigurationException(
                nameof(TypeManifestOptions) + " has codecs, copiers, converters or activators, or asks for an analysis of them, but the "
                    + "services were added before and do not use any: call AddSerializer on the services.");
        }
    }

    public void Dispose() => CodecScopes.Unregister(this);
}

/// <summary>
/// The scopes that live (weakly: one that was dropped is forgotten at the next look). Where a message or a copy does not say whose it is,
/// the latest one serves. Any thread.
/// </summary>
internal static class CodecScopes
{
    private static readonly List<WeakReference<ICodecScope>> Scopes = [];
    private static readonly Lock Gate = new();
    private static readonly Lazy<ICodecScope> Empty = new(static () => new CodecScope(new ServiceCollection().BuildServiceProvider()));

    private static int s_version;

    /// <summary>Changes when codec classes or scopes were added.</summary>
    internal static int Version => Volatile.Read(ref s_version);

    /// <summary>The latest one whose services are not gone.</summary>
    internal static ICodecScope Latest => Array.Find(Live(), HasServices) ?? FieldCodecSource.Installed?.OfNobody ?? Empty.Value;

    internal static void Register(ICodecScope scope)
    {
        lock (Gate)
        {
            Scopes.RemoveAll(static reference => !reference.TryGetTarget(out _));
            Scopes.Insert(0, new WeakReference<ICodecScope>(scope));
        }

        Changed();
    }

    internal static void Unregister(ICodecScope scope)
    {
        lock (Gate)
            Scopes.RemoveAll(reference => !reference.TryGetTarget(out var other) || ReferenceEquals(other, scope));
        Changed();
    }

    internal static ICodecScope[] Live()
    {
        lock (Gate)
            return [.. Scopes.Select(static reference => reference.TryGetTarget(out var scope) ? scope : null).OfType<ICodecScope>()];
    }

    internal static void Changed()
    {
        Interlocked.Increment(ref s_version);
        AnyCodec.Forget();
    }

    private static bool HasServices(ICodecScope scope)
    {
        try
        {
            return scope.HasServices;
        }
        catch (ObjectDisposedException)
        {
            return false;
        }
    }
}

/// <summary>The services of serialization that every silo and client has.</summary>
internal static class SerializationServices
{
    internal static void Add(IServiceCollection services)
    {
        services.AddOptions();
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IConfigureOptions<TypeManifestOptions>, ApplicationProxies>());
        services.TryAddEnumerable(ServiceDescriptor.Singleton<ITypeNameFilter, DefaultTypeFilter>());
        services.TryAddSingleton<TypeResolver, CachedTypeResolver>();
        services.TryAddSingleton<TypeConverter>();
        services.TryAddSingleton<ICodecScope>(static provider =>
        {
            CodecScope scope = new(provider);
            CodecScopes.Register(scope);
            return scope;
        });
        services.TryAddSingleton<IActivatorProvider>(static provider => provider.GetRequiredService<ICodecScope>().Activators);
    }

    /// <summary>True when the application adds codecs or types by options.</summary>
    internal static bool HasOptions(IServiceCollection services) => services.Any(static service =>
        service.ServiceType == typeof(IConfigureOptions<TypeManifestOptions>) && service.ImplementationType != typeof(ApplicationProxies));
}
