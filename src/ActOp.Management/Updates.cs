using System.Runtime.CompilerServices;

namespace ActOp.Management;

/// <summary>The values of something that changes, for readers that come when they like.</summary>
internal static class Updates
{
    /// <summary>
    /// The present value, and then each that a reader finds when it comes back: it may miss some, and sees the last one. Ends when the node
    /// stops. A reader that stops reading holds nothing.
    /// </summary>
    /// <param name="changed">A task that completes with the next change; asked for before the value.</param>
    /// <param name="current">The value; the same object while nothing has changed.</param>
    /// <param name="stopping">The node stops.</param>
    /// <param name="cancellationToken">Of the reader.</param>
    internal static async IAsyncEnumerable<T> Read<T>(
        Func<Task> changed, Func<T> current, CancellationToken stopping,
        [EnumeratorCancellation] CancellationToken cancellationToken = default)
        where T : class
    {
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(stopping, cancellationToken);
        T? told = null;
        while (!stopping.IsCancellationRequested)
        {
            var change = changed();
            var now = current();
            if (!ReferenceEquals(told, now))
            {
                told = now;
                yield return now;
                continue;
            }

            await change.WaitAsync(ended.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing
                | ConfigureAwaitOptions.ContinueOnCapturedContext);
            cancellationToken.ThrowIfCancellationRequested();
        }
    }
}
