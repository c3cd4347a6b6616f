using ActOp.Configuration;
using ActOp.Storage;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Configuration;
using Orleans.Hosting;
using Orleans.Providers;
using Orleans.Runtime;
using Orleans.Storage;

[assembly: RegisterProvider("Memory", "GrainStorage", "Silo", typeof(MemoryStorageSection))]
[assembly: RegisterProvider("File", "GrainStorage", "Silo", typeof(FileStorageSection))]

namespace ActOp.Storage;

/// <summary><c>Orleans:GrainStorage:name:ProviderType</c> Memory, with the options of that storage beside it.</summary>
internal sealed class MemoryStorageSection : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddMemoryGrainStorage(name!, (OptionsBuilder<MemoryGrainStorageOptions> options) =>
            StorageSection.Bind(options, configurationSection));
}

/// <summary><c>Orleans:GrainStorage:name:ProviderType</c> File, with the options of that storage beside it.</summary>
internal sealed class FileStorageSection : IProviderBuilder<ISiloBuilder>
{
    public void Configure(ISiloBuilder builder, string? name, IConfigurationSection configurationSection) =>
        builder.AddFileGrainStorage(name!, (OptionsBuilder<FileGrainStorageOptions> options) =>
            StorageSection.Bind(options, configurationSection));
}

/// <summary>What the sections of all storages have. Holds nothing; runs while the host is composed.</summary>
internal static class StorageSection
{
    private const string SerializerKey = "SerializerKey";

    /// <summary>Binds the options, and the serializer that the application has registered under the key in the section.</summary>
    internal static void Bind<TOptions>(OptionsBuilder<TOptions> options, IConfigurationSection section)
        where TOptions : class, IStorageProviderSerializerOptions
    {
        options.Bind(section);
        if (section[SerializerKey] is not { Length: > 0 } key)
            return;
        options.Configure<IServiceProvider>((configured, services) => configured.GrainStorageSerializer =
            services.GetKeyedService<IGrainStorageSerializer>(key) ?? throw new OrleansConfigurationException(
                section.Path + ":" + SerializerKey + " is " + key + ", but no IGrainStorageSerializer is registered with this key."));
    }
}
