using ActOp.Storage.Tenants;
using Orleans.Hosting;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace ActOp.Configuration;

/// <summary>Storages that are other ones for each tenant (docs/tenants.md).</summary>
public static class TenantStorageSiloBuilderExtensions
{
    /// <summary>
    /// A grain storage that is another one for each tenant. Its name stands in <c>[PersistentState("cart", "carts")]</c> or
    /// <c>[StorageProvider]</c>; "Default" makes it the one of states that name none.
    /// </summary>
    /// <param name="builder">The silo.</param>
    /// <param name="name">Its name.</param>
    /// <param name="select">
    /// Names the storage of a tenant, which must be added to the silo as well; null stands for grains without a tenant. Called when a state
    /// of an activation is made; must not wait, and must name the same storage for a tenant on all silos. If it throws or names none,
    /// the activation fails; a <see cref="BadProviderConfigException"/> inside says why.
    /// </param>
    /// <returns>The builder.</returns>
    public static ISiloBuilder AddTenantGrainStorage(this ISiloBuilder builder, string name, Func<string?, string> select)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(select);
        builder.Services.AddGrainStorage(name, (services, own) => new TenantStorage(own, services, select));
        return builder;
    }
}
