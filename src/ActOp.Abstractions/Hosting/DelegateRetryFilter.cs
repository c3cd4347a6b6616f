using Orleans;

namespace ActOp.Hosting;

/// <summary>A retry filter made of a method.</summary>
internal sealed class DelegateRetryFilter(Func<Exception, CancellationToken, Task<bool>> filter) : IClientConnectionRetryFilter
{
    public Task<bool> ShouldRetryConnectionAttempt(Exception exception, CancellationToken cancellationToken) => filter(exception, cancellationToken);
}
