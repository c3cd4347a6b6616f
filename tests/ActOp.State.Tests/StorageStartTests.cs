using ActOp.Foundation;
using Microsoft.Extensions.Hosting;
using Orleans.Storage;

namespace ActOp.State.Tests;

/// <summary>When the storages of a silo start.</summary>
public class StorageStartTests
{
    [Fact]
    public async Task A_storage_starts_in_the_configured_stage()
    {
        var root = Directory.CreateTempSubdirectory("start").FullName;
        var builder = Host.CreateEmptyApplicationBuilder(new HostApplicationBuilderSettings { DisableDefaults = true });
        builder.UseOrleans(silo => silo.UseLocalhostClustering()
            .AddFileGrainStorage("files", options => (options.RootDirectory, options.InitStage) = (root, 5))
            .AddMemoryGrainStorage("memory", options => options.InitStage = 7));
        using var host = builder.Build();
        var lifecycle = new SiloLifecycle();
        foreach (var participant in host.Services.GetServices<ILifecycleParticipant<ISiloLifecycle>>())
            participant.Participate(lifecycle);
        var state = new GrainState<Account>();
        lifecycle.Subscribe("before", 4, _ => Assert.ThrowsAsync<OrleansException>(() => Read(host, state)));
        lifecycle.Subscribe("after", 6, _ => Read(host, state));
        lifecycle.Subscribe("end", 8, _ => Task.CompletedTask);
        await lifecycle.OnStart();
        Assert.InRange(((ISiloLifecycle)lifecycle).HighestCompletedStage, 8, int.MaxValue);
        await lifecycle.OnStop();
        await Assert.ThrowsAsync<OrleansException>(() => Read(host, state));
        Directory.Delete(root, recursive: true);
    }

    private static Task Read(IHost host, GrainState<Account> state) =>
        host.Services.GetRequiredKeyedService<IGrainStorage>("files").ReadStateAsync("s", GrainId.Create("a", "b"), state);
}
