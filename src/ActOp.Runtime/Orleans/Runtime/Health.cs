namespace Orleans.Runtime;

/// <summary>Says whether it works.</summary>
public interface IHealthCheckable
{
    /// <summary>Whether this part works. Short, without waiting; any thread.</summary>
    /// <param name="lastCheckTime">When it was asked the last time, in UTC; the first time, when the silo was asked first.</param>
    /// <param name="reason">Why not.</param>
    bool CheckHealth(DateTime lastCheckTime, out string? reason);
}

/// <summary>
/// A part of the application that takes part in the readiness of its silo (<c>AddHealthChecks().AddActOp()</c>): register it as a service.
/// </summary>
public interface IHealthCheckParticipant : IHealthCheckable
{
}

/// <summary>
/// Told when the silo must end: the others have declared it dead, or a vital part has failed. Register one as a service; the host is
/// stopped in any case.
/// </summary>
public interface IFatalErrorHandler
{
    /// <summary>Whether <see cref="OnFatalException"/> shall hear of this error.</summary>
    bool IsUnexpected(Exception exception);

    /// <summary>The silo ends. Runs on the thread pool; what it throws is logged.</summary>
    /// <param name="sender">The silo's address.</param>
    /// <param name="context">The reason.</param>
    /// <param name="exception">The error with that reason.</param>
    void OnFatalException(object? sender = null, string? context = null, Exception? exception = null);
}
