namespace Orleans.LeaseProviders;

/// <summary>Gives leases on named resources: one holder at a time, for a limited time.</summary>
public interface ILeaseProvider
{
    /// <summary>Asks for leases.</summary>
    /// <param name="category">Resources of different categories have nothing to do with each other.</param>
    /// <param name="leaseRequests">The resources.</param>
    /// <returns>The outcome for each request, in their order.</returns>
    Task<AcquireLeaseResult[]> Acquire(string category, LeaseRequest[] leaseRequests);

    /// <summary>Gives leases back. Those that another holds now are left to it.</summary>
    Task Release(string category, AcquiredLease[] aquiredLeases);

    /// <summary>Begins the time of leases anew.</summary>
    /// <returns>The outcome for each lease, in their order.</returns>
    Task<AcquireLeaseResult[]> Renew(string category, AcquiredLease[] aquiredLeases);
}

/// <summary>What became of a request for a lease.</summary>
public enum ResponseCode
{
    /// <summary>The lease is held.</summary>
    OK = 0,

    /// <summary>Another holds the lease.</summary>
    LeaseNotAvailable = 1,

    /// <summary>The lease that was to be renewed is lost.</summary>
    InvalidToken = 2,

    /// <summary>The provider has failed; the request may be tried again.</summary>
    TransientFailure = 3,
}

/// <summary>A resource, and for how long it is wanted.</summary>
[GenerateSerializer]
[Immutable]
public sealed class LeaseRequest
{
    /// <summary>Creates the request.</summary>
    public LeaseRequest(string resourceKey, TimeSpan duration)
    {
        ResourceKey = resourceKey;
        Duration = duration;
    }

    /// <summary>For how long.</summary>
    [Id(1)]
    public TimeSpan Duration { get; private set; }

    /// <summary>The resource.</summary>
    [Id(0)]
    public string ResourceKey { get; private set; }
}

/// <summary>A lease that is held.</summary>
[GenerateSerializer]
[Immutable]
public sealed class AcquiredLease
{
    /// <summary>Creates the lease.</summary>
    /// <param name="resourceKey">The resource.</param>
    /// <param name="duration">For how long.</param>
    /// <param name="token">Names this holder to the provider.</param>
    /// <param name="startTimeUtc">When the time has begun.</param>
    public AcquiredLease(string resourceKey, TimeSpan duration, string? token, DateTime startTimeUtc)
    {
        ResourceKey = resourceKey;
        Duration = duration;
        Token = token;
        StartTimeUtc = startTimeUtc;
    }

    /// <summary>Creates a lease of a resource that nobody holds.</summary>
    public AcquiredLease(string resourceKey)
        : this(resourceKey, TimeSpan.Zero, null, default)
    {
    }

    /// <summary>For how long.</summary>
    [Id(1)]
    public TimeSpan Duration { get; private set; }

    /// <summary>The resource.</summary>
    [Id(0)]
    public string ResourceKey { get; private set; }

    /// <summary>When the time has begun.</summary>
    [Id(3)]
    public DateTime StartTimeUtc { get; private set; }

    /// <summary>Names this holder to the provider.</summary>
    [Id(2)]
    public string? Token { get; private set; }
}

/// <summary>The outcome of a request for a lease.</summary>
[GenerateSerializer]
[Immutable]
public sealed class AcquireLeaseResult
{
    /// <summary>Creates the outcome.</summary>
    public AcquireLeaseResult(AcquiredLease? acquiredLease, ResponseCode statusCode, Exception? failureException)
    {
        AcquiredLease = acquiredLease;
        StatusCode = statusCode;
        FailureException = failureException;
    }

    /// <summary>The lease, if it is held.</summary>
    [Id(0)]
    public AcquiredLease? AcquiredLease { get; private set; }

    /// <summary>Why the provider has failed, if it has.</summary>
    [Id(2)]
    public Exception? FailureException { get; private set; }

    /// <summary>What became of the request.</summary>
    [Id(1)]
    public ResponseCode StatusCode { get; private set; }
}
