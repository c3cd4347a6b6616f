using Orleans.Runtime;

namespace ActOp.Runtime.Locality;

/// <summary>A wish to move one activation, and what became of it.</summary>
internal sealed class MigrationRequest(SiloAddress target)
{
    private readonly TaskCompletionSource<MigrationOutcome> _outcome = new(TaskCreationOptions.RunContinuationsAsynchronously);

    internal SiloAddress Target => target;

    internal Task<MigrationOutcome> Outcome => _outcome.Task;

    internal void Report(MigrationOutcome outcome) => _outcome.TrySetResult(outcome);
}
