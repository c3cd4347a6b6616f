using ActOp.Dashboard;
using ActOp.Management.Snapshots;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;

namespace Microsoft.AspNetCore.Builder;

/// <summary>The page of ActOp in an application with ASP.NET Core.</summary>
public static class ActOpDashboardExtensions
{
    /// <summary>
    /// Maps the page and the JSON behind it. It shows the cluster and changes nothing. Without a policy
    /// (<c>.RequireAuthorization(...)</c> on what this returns) it answers only to this machine: to others it says what to do.
    /// <c>.AllowAnonymous()</c> opens it to everybody.
    /// </summary>
    /// <param name="endpoints">The application.</param>
    /// <param name="path">The address of the page, as <c>/actop</c>.</param>
    /// <returns>The endpoints, for a policy and other conventions.</returns>
    /// <exception cref="InvalidOperationException">There is no silo in this host.</exception>
    public static IEndpointConventionBuilder MapActOpDashboard(this IEndpointRouteBuilder endpoints, string path = "/actop")
    {
        ArgumentNullException.ThrowIfNull(endpoints);
        ArgumentException.ThrowIfNullOrEmpty(path);
        var services = endpoints.ServiceProvider;
        if (services.GetService<IServiceProviderIsService>()?.IsService(typeof(SnapshotReader)) == false)
            throw new InvalidOperationException("MapActOpDashboard needs a silo in this host: call UseOrleans before the host is built.");
        var time = services.GetRequiredService<TimeProvider>();
        // The node is made at its first use, which the start of the host must be.
        var feed = new DashboardFeed(cancelled => services.GetRequiredService<SnapshotReader>().ReadAsync(cancelled), time);
        return DashboardEndpoints.Map(endpoints, path.TrimEnd('/'), feed);
    }
}
