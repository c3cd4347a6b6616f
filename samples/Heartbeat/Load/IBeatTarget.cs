namespace Heartbeat.Load;

/// <summary>What the load is applied to: a silo, or a fake in tests. Called from several threads at once.</summary>
public interface IBeatTarget : IAsyncDisposable
{
    /// <summary>Sends a request; completes with its answer and returns the grain messages that it took.</summary>
    ValueTask<int> Send(Beat beat);
}
