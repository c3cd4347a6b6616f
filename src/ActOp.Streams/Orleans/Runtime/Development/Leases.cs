using ActOp.Calls;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Hosting;
using Orleans.LeaseProviders;

namespace Orleans.Runtime.Development;

/// <summary>
/// Leases in the memory of a grain for each category. They are lost with the silo that has the grain: for development and tests.
/// </summary>
/// <param name="grainFactory">Of the cluster.</param>
public class InMemoryLeaseProvider(IGrainFactory grainFactory) : ILeaseProvider
{
    /// <inheritdoc/>
    public Task<AcquireLeaseResult[]> Acquire(string category, LeaseRequest[] leaseRequests) => LeasesOf(category).Acquire(leaseRequests);

    /// <inheritdoc/>
    public Task Release(string category, AcquiredLease[] acquiredLeases) => LeasesOf(category).Release(acquiredLeases);

    /// <inheritdoc/>
    public Task<AcquireLeaseResult[]> Renew(string category, AcquiredLease[] acquiredLeases) => LeasesOf(category).Renew(acquiredLeases);

    private ILeaseGrain LeasesOf(string category) => grainFactory.GetGrain<ILeaseGrain>(category);
}

/// <summary>Parts of a silo for development.</summary>
public static class DevelopmentSiloBuilderExtensions
{
    /// <summary>Leases (<see cref="ILeaseProvider"/>) in the memory of the cluster.</summary>
    public static ISiloBuilder UseInMemoryLeaseProvider(this ISiloBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        builder.Services.AddSingleton<InMemoryLeaseProvider>();
        builder.Services.AddSingleton<ILeaseProvider>(static services => services.GetRequiredService<InMemoryLeaseProvider>());
        return builder;
    }
}

/// <summary>The leases of one category.</summary>
[OfRuntime, GrainInterfaceType("actop.leases")]
internal interface ILeaseGrain : IGrainWithStringKey
{
    Task<AcquireLeaseResult[]> Acquire(LeaseRequest[] requests);

    Task Release(AcquiredLease[] leases);

    Task<AcquireLeaseResult[]> Renew(AcquiredLease[] leases);
}

/// <summary>
/// Holds the leases in force; those that have expired are forgotten when somebody asks for them, or for any after a hundred.
/// </summary>
[GrainType("actop.leases")]
[KeepAlive]
internal sealed class LeaseGrain(IGrainRuntime runtime) : Grain, ILeaseGrain
{
    private const int SweptFrom = 100;

    private readonly Dictionary<string, AcquiredLease> _held = new(StringComparer.Ordinal);

    private DateTime Now => runtime.TimeProvider.GetUtcNow().UtcDateTime;

    public Task<AcquireLeaseResult[]> Acquire(LeaseRequest[] requests)
    {
        if (_held.Count >= SweptFrom)
            Sweep();
        return Task.FromResult(requests.Select(request => IsHeld(request.ResourceKey)
            ? new AcquireLeaseResult(null, ResponseCode.LeaseNotAvailable, null)
            : Grant(request.ResourceKey, request.Duration)).ToArray());
    }

    public Task Release(AcquiredLease[] leases)
    {
        foreach (var lease in leases)
        {
            if (_held.TryGetValue(lease.ResourceKey, out var held) && held.Token == lease.Token)
                _held.Remove(lease.ResourceKey);
        }

        return Task.CompletedTask;
    }

    public Task<AcquireLeaseResult[]> Renew(AcquiredLease[] leases) => Task.FromResult(leases.Select(lease =>
        IsHeld(lease.ResourceKey) && _held[lease.ResourceKey].Token == lease.Token
            ? Grant(lease.ResourceKey, lease.Duration)
            : new AcquireLeaseResult(null, ResponseCode.InvalidToken, null)).ToArray());

    private bool IsHeld(string key) => _held.TryGetValue(key, out var lease) && Now - lease.StartTimeUtc < lease.Duration;

    private AcquireLeaseResult Grant(string key, TimeSpan duration)
    {
        var lease = new AcquiredLease(key, duration, Guid.NewGuid().ToString("N"), Now);
        _held[key] = lease;
        return new AcquireLeaseResult(lease, ResponseCode.OK, null);
    }

    private void Sweep()
    {
        foreach (var key in _held.Keys.Where(key => !IsHeld(key)).ToList())
            _held.Remove(key);
    }
}
