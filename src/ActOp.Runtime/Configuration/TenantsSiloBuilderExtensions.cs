using ActOp.Foundation;
using ActOp.Tenants;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;

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
