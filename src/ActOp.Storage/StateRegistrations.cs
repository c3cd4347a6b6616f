using ActOp.Runtime.Activations;
using ActOp.Runtime.Nodes;
using ActOp.Storage.Tenants;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using Orleans;
using Orleans.Core;
using Orleans.Runtime;
using Orleans.Serialization;
using Orleans.Storage;

namespace ActOp.Storage;

/// <summary>
/// Makes a provider in a stage of its silo's start, so that wrong options fail the start and not the first grain. Holds nothing.
/// </summary>
internal sealed class StorageStart(string name, IServiceProvider services, Func<IServiceProvider, string, int> stageOf)
    : ILifecycleParticipant<ISiloLifecycle>
{
    public void Participate(ISiloLifecycle lifecycle) => lifecycle.Subscribe("storage " + name, stageOf(services, name), _ =>
    {
        services.GetRequiredKeyedService<IGrainStorage>(name);
        return Task.CompletedTask;
    });
}

/// <summary>The state of a grain that derives from <see cref="Grain{TGrainState}"/>, in the storage that its class names.</summary>
internal sealed class GrainStates(IServiceProvider services) : IGrainStates
{
    public IStorage<TGrainState> Create<TGrainState>(Activation activation)
    {
        var named = GrainStorageHelpers.GetGrainStorage(activation.Class.Type, services);
        return new StateStorageBridge<TGrainState>("state", activation, TenantStorage.Resolve(named, activation.GrainId));
    }
}

/// <summary>The services of persistent state that every silo has.</summary>
internal static class StateRegistrations
{
    internal static void Add(IServiceCollection services)
    {
        services.TryAddSingleton<StateDiagnostics>();
        services.TryAddSingleton<IGrainStates, GrainStates>();
        services.TryAddSingleton<IPersistentStateFactory, PersistentStateFactory>();
        services.TryAddSingleton(
            typeof(IAttributeToFactoryMapper<PersistentStateAttribute>), typeof(PersistentStateAttributeMapper));
        services.TryAddSingleton<SystemTextJsonGrainStorageSerializer>();
        services.TryAddSingleton<IGrainStorageSerializer, UsualGrainStorageSerializer>();
        services.AddSingleton<
            IPostConfigureOptions<SystemTextJsonGrainStorageSerializerOptions>, SystemTextJsonSerializerOptionsConfigure>();
    }
}
