using ActOp.Runtime.Tenants;
using ActOp.Tenants;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.Runtime.Hosting;
using Orleans.Storage;

namespace ActOp.Configuration;

/// <summary>Separates tenants on a silo (docs/tenants.md).</summary>
public static class TenantsSiloBuilderExtensions
{
    /// <summary>
    /// Refuses calls and streams that cross from one tenant to another, with a <see cref="CrossTenantException"/>. Which tenant a grain or
    /// stream is of is a part of its key (<see cref="TenantExtensions"/>). All silos should have it.
    /// </summary>
    /// <param name="builder">The silo.</param>
    /// <param name="authorizer">
    /// Makes the policy that is asked for all that crosses. Null: an <see cref="ICrossTenantAuthorizer"/> of the services; without one, a
    /// tenant may use its own grains and streams and those without a tenant, and clients and grains without a tenant may use all.
    /// </param>
    /// <returns>The builder.</returns>
    public static ISiloBuilder AddTenants(this ISiloBuilder builder, Func<IServiceProvider, ICrossTenantAuthorizer>? authorizer = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton(new TenantSeparation(authorizer));
        return builder;
    }

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

    /// <summary>
    /// Puts grains of a tenant into the group that has the tenant's name, if there is one; others stay in the group of their class. Sets
    /// <see cref="GroupsOptions.Select"/>.
    /// </summary>
    public static GroupsOptions SelectTenants(this GroupsOptions groups)
    {
        ArgumentNullException.ThrowIfNull(groups);
        groups.Select = (grain, _) => grain.GetTenant() is { } tenant && groups.Groups.ContainsKey(tenant) ? tenant : null;
        return groups;
    }
}
