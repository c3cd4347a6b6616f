namespace Orleans;

/// <summary>Decides whether a client that starts tries again to connect.</summary>
public interface IClientConnectionRetryFilter
{
    /// <summary>True to try again, after whatever time the task takes; false to fail the start.</summary>
    /// <param name="exception">Why the attempt failed.</param>
    /// <param name="cancellationToken">Signalled when the start is given up.</param>
    Task<bool> ShouldRetryConnectionAttempt(Exception exception, CancellationToken cancellationToken);
}
