using System.Reflection;
using ActOp.Serialization;
using ActOp.Serialization.Fields.Bridging;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans.Serialization.Activators;
using Orleans.Serialization.Cloning;
using Orleans.Serialization.Codecs;
using Orleans.Serialization.Configuration;
using Orleans.Serialization.Serializers;
using Orleans.Serialization.Session;
using Orleans.Serialization.TypeSystem;

namespace Orleans.Serialization;

/// <summary>Configures serialization.</summary>
public interface ISerializerBuilder
{
    /// <summary>The services that serialization belongs to.</summary>
    IServiceCollection Services { get; }
}

/// <summary>Configures serialization.</summary>
internal sealed class SerializerBuilder(IServiceCollection services) : ISerializerBuilder
{
    public IServiceCollection Services => services;
}

/// <summary>Adds codecs and types of an application.</summary>
public static class SerializerBuilderExtensions
{
    /// <summary>Changes the options.</summary>
    public static ISerializerBuilder Configure(this ISerializerBuilder builder, Action<TypeManifestOptions> configure)
    {
        builder.Services.Configure(configure);
        return builder;
    }

    /// <summary>Changes the options.</summary>
    public static ISerializerBuilder Configure(this ISerializerBuilder builder, IConfigureOptions<TypeManifestOptions> configure)
    {
        builder.Services.AddSingleton(configure);
        return builder;
    }

    /// <summary>Changes the options.</summary>
    public static ISerializerBuilder Configure(
        this ISerializerBuilder builder, Func<IServiceProvider, IConfigureOptions<TypeManifestOptions>> factory)
    {
        builder.Services.AddSingleton(factory);
        return builder;
    }

    /// <summary>Registers the generated code of an assembly, and of what it refers to.</summary>
    public static ISerializerBuilder AddAssembly(this ISerializerBuilder builder, Assembly assembly)
    {
        TypeManifest.Load(assembly);
        foreach (var provider in assembly.GetCustomAttributes<TypeManifestProviderAttribute>())
        {
            builder.Services.TryAddEnumerable(
                ServiceDescriptor.Singleton(typeof(IConfigureOptions<TypeManifestOptions>), provider.ProviderType));
        }

        return builder;
    }
}

/// <summary>Adds serialization to services.</summary>
public static class ServiceCollectionExtensions
{
    /// <summary>
    /// Adds <see cref="Serializer"/>, <see cref="DeepCopier"/>, their typed forms and the codecs of the application; grain references are
    /// bound to the silo or client of the services, if any.
    /// </summary>
    /// <exception cref="InvalidOperationException">An application part cannot be loaded.</exception>
    public static IServiceCollection AddSerializer(this IServiceCollection services, Action<ISerializerBuilder>? configure = null)
    {
        if (services.All(static s => s.ServiceType != typeof(CodecProvider)))
        {
            TypeManifest.LoadApplication();
            AddTypes(services);
            AddProviders(services);
            AddFacades(services);
        }

        configure?.Invoke(new SerializerBuilder(services));
        return services;
    }

    private static void AddTypes(IServiceCollection services)
    {
        // After that of a silo or client, if there is one: the last serves.
        services.AddSingleton<ICodecScope>(static provider => provider.GetRequiredService<CodecProvider>());
        SerializationServices.Add(services);
        services.TryAddEnumerable(ServiceDescriptor.Singleton<IConfigureOptions<TypeManifestOptions>, DefaultWellKnownTypes>());
        services.TryAddSingleton<TypeCodec>();
        services.TryAddSingleton<WellKnownTypeCollection>();
    }

    private static void AddProviders(IServiceCollection services)
    {
        services.TryAddSingleton<CodecProvider>();
        services.TryAddSingleton<ICodecProvider>(static provider => provider.GetRequiredService<CodecProvider>());
        services.TryAddSingleton<IFieldCodecProvider>(static provider => provider.GetRequiredService<CodecProvider>());
        services.TryAddSingleton<IBaseCodecProvider>(static provider => provider.GetRequiredService<CodecProvider>());
        services.TryAddSingleton<IValueSerializerProvider>(static provider => provider.GetRequiredService<CodecProvider>());
        services.TryAddSingleton<IDeepCopierProvider>(static provider => provider.GetRequiredService<CodecProvider>());
        services.TryAddSingleton<SerializerSessionPool>();
        services.TryAddSingleton<CopyContextPool>();
        services.TryAddSingleton(typeof(IFieldCodec<>), typeof(FieldCodecService<>));
        services.TryAddSingleton(typeof(IBaseCodec<>), typeof(BaseCodecService<>));
        services.TryAddSingleton(typeof(IValueSerializer<>), typeof(ValueSerializerService<>));
        services.TryAddSingleton(typeof(IDeepCopier<>), typeof(DeepCopierService<>));
        services.TryAddSingleton(typeof(IBaseCopier<>), typeof(BaseCopierService<>));
        services.TryAddSingleton(typeof(IActivator<>), typeof(ActivatorService<>));
        services.TryAddTransient(typeof(ArrayCodec<>));
        services.TryAddTransient(typeof(ListCodec<>));
        services.TryAddSingleton<ExceptionCodec>();
        services.TryAddSingleton<ObjectCodec>();
        services.TryAddSingleton<ObjectCopier>();
    }

    private static void AddFacades(IServiceCollection services)
    {
        services.TryAddSingleton<Serializer>();
        services.TryAddSingleton<ObjectSerializer>();
        services.TryAddSingleton<DeepCopier>();
        services.TryAddSingleton(typeof(Serializer<>));
        services.TryAddSingleton(typeof(ValueSerializer<>));
        services.TryAddSingleton(typeof(DeepCopier<>));
    }
}
