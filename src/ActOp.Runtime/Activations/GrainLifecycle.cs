using ActOp.Runtime.Hosting;
using Orleans;
using Orleans.Runtime;

namespace ActOp.Runtime.Activations;

/// <summary>The stages of one activation's life that services and facets subscribe to.</summary>
internal sealed class GrainLifecycle : StagedLifecycle, IGrainLifecycle
{
    private List<IGrainMigrationParticipant>? _participants;

    internal IReadOnlyList<IGrainMigrationParticipant> MigrationParticipants => _participants ?? (IReadOnlyList<IGrainMigrationParticipant>)[];

    /// <summary>Any thread; a moment's truth.</summary>
    internal bool HasMigrationParticipants => Volatile.Read(ref _participants) is { Count: > 0 };

    public void AddMigrationParticipant(IGrainMigrationParticipant participant)
    {
        _participants ??= [];
        if (!_participants.Contains(participant))
            _participants.Add(participant);
    }

    public void RemoveMigrationParticipant(IGrainMigrationParticipant participant) => _participants?.Remove(participant);
}
