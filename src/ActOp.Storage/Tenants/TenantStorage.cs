using ActOp.Tenants;
using Microsoft.Extensions.DependencyInjection;
using Orleans;
using Orleans.Runtime;
using Orleans.Storage;

namespace ActOp.Storage.Tenants;

/// <summary>A storage that is another one for each tenant. States of grains use that one directly.</summary>
/// <remarks>
/// Holds nothing; the storages belong to the services. Any thread. The delegate of the application runs when a state of an activation is
/// made. Failures of it: throws, or names no storage: the activation fails with the reason. Hangs: it holds a thread of the work stage, as
/// a constructor of a grain does.
/// </remarks>
internal sealed class TenantStorage(string name, IServiceProvider services, Func<string?, string> select) : IGrainStorage
{
    /// <summary>The storage that keeps the states of a grain.</summary>
    /// <exception cref="BadProviderConfigException">There is none, or the delegate has failed.</exception>
    internal static IGrainStorage Resolve(IGrainStorage storage, GrainId grain) =>
        storage is TenantStorage tenants ? tenants.StorageOf(grain.GetTenant()) : storage;

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        Resolve(this, grainId).ReadStateAsync(stateName, grainId, grainState);

    public Task ReadStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        Resolve(this, grainId).ReadStateAsync(stateName, grainId, grainState, cancellationToken);

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        Resolve(this, grainId).WriteStateAsync(stateName, grainId, grainState);

    public Task WriteStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        Resolve(this, grainId).WriteStateAsync(stateName, grainId, grainState, cancellationToken);

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState) =>
        Resolve(this, grainId).ClearStateAsync(stateName, grainId, grainState);

    public Task ClearStateAsync<T>(string stateName, GrainId grainId, IGrainState<T> grainState, CancellationToken cancellationToken) =>
        Resolve(this, grainId).ClearStateAsync(stateName, grainId, grainState, cancellationToken);

    private IGrainStorage StorageOf(string? tenant)
    {
        var of = tenant is null ? "for grains without a tenant" : "for the tenant \"" + tenant + "\"";
        string target;
        try
        {
            target = select(tenant);
        }
        catch (Exception failure)
        {
            throw new BadProviderConfigException("The delegate of the storage \"" + name + "\" has failed " + of + ".", failure);
        }

        var named = "The delegate of the storage \"" + name + "\" has named ";
        if (string.IsNullOrEmpty(target))
            throw new BadProviderConfigException(named + "no storage " + of + ".");
        named += "\"" + target + "\" " + of + ", ";
        return services.GetKeyedService<IGrainStorage>(target) switch
        {
            null => throw new BadProviderConfigException(named + "but there is no such storage. Add it on the silo builder, for example"
                + " with AddMemoryGrainStorage(\"" + target + "\")."),
            TenantStorage => throw new BadProviderConfigException(named + "which chooses a storage for each tenant itself."
                + " Name one that keeps states."),
            var storage => storage,
        };
    }
}
