using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>A wish to move one activation, and what became of it.</summary>
internal sealed class MigrationRequest(SiloAddress target, bool live = true)
{
    private readonly TaskCompletionSource<MigrationOutcome> _outcome = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal SiloAddress Target => target;

    /// <summary>The state goes along; otherwise the grain is deactivated and begins anew on the target with its next call.</summary>
    internal bool Live => live;

    internal Task<MigrationOutcome> Outcome => _outcome.Task;

    internal void Report(MigrationOutcome outcome) => _outcome.TrySetResult(outcome);
}
