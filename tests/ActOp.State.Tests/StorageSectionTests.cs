using ActOp.Configuration;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Options;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>Storages that the configuration section Orleans names.</summary>
public class StorageSectionTests
{
    [Fact]
    public void Storages_are_added_by_their_names_with_their_options()
    {
        using var host = Silo(
            ("Default:ProviderType", "Memory"), ("Default:NumStorageGrains", "3"), ("orders:ProviderType", "File"),
            ("orders:RootDirectory", "/somewhere"), ("orders:Threads", "2"), ("orders:SerializerKey", "own"));
        Assert.IsType<MemoryGrainStorage>(host.Services.GetKeyedService<IGrainStorage>("Default"), exactMatch: false);
        Assert.Equal(3, host.Services.GetRequiredService<IOptionsMonitor<MemoryGrainStorageOptions>>().Get("Default").NumStorageGrains);
        var orders = host.Services.GetRequiredService<IOptionsMonitor<FileGrainStorageOptions>>().Get("orders");
        Assert.Equal(("/somewhere", 2), (orders.RootDirectory, orders.Threads));
        Assert.IsType<OrleansGrainStorageSerializer>(orders.GrainStorageSerializer);
        Assert.NotNull(host.Services.GetKeyedService<IGrainStorage>("orders"));
        Assert.Null(host.Services.GetKeyedService<IGrainStorage>("others"));
    }

    [Fact]
    public void A_serializer_that_nobody_has_registered_is_refused_by_its_key()
    {
        using var host = Silo(("orders:ProviderType", "File"), ("orders:SerializerKey", "none"));
        var error = Assert.Throws<OrleansConfigurationException>(() => host.Services.GetKeyedService<IGrainStorage>("orders"));
        Assert.Contains("Orleans:GrainStorage:orders:SerializerKey", error.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_storage_without_a_serializer_of_its_own_uses_the_registered_one()
    {
        using var host = Silo(
            static silo => silo.UseSystemTextJsonGrainStorageSerializer(), ("a:ProviderType", "File"), ("b:ProviderType", "Memory"));
        Assert.IsType<SystemTextJsonGrainStorageSerializer>(
            host.Services.GetRequiredService<IOptionsMonitor<FileGrainStorageOptions>>().Get("a").GrainStorageSerializer);
        Assert.IsType<SystemTextJsonGrainStorageSerializer>(
            host.Services.GetRequiredService<IOptionsMonitor<MemoryGrainStorageOptions>>().Get("b").GrainStorageSerializer);
    }

    private static IHost Silo(params (string Key, string Value)[] values) => Silo(
        static silo => silo.Services.AddKeyedSingleton<IGrainStorageSerializer, OrleansGrainStorageSerializer>("own"), values);

    private static IHost Silo(Action<ISiloBuilder> configure, params (string Key, string Value)[] values)
    {
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.Configuration.AddInMemoryCollection(values.Select(static value =>
            KeyValuePair.Create("Orleans:GrainStorage:" + value.Key, (string?)value.Value)));
        builder.UseOrleans(silo => configure(silo.UseLocalhostClustering()));
        return builder.Build();
    }
}
