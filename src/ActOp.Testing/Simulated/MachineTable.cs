using ActOp.Runtime.Cluster;

namespace ActOp.Testing.Simulated;

/// <summary>What becomes of a request to the table.</summary>
internal enum TableFate
{
    /// <summary>It is done and answered, as far as the other faults permit.</summary>
    Answered,

    /// <summary>It is refused before anything is done.</summary>
    Refused,

    /// <summary>It is done, and its sender is told of an error.</summary>
    Failed,

    /// <summary>It is done, and its sender gets no answer.</summary>
    Unanswered,
}

/// <summary>The membership table of a run: a database somewhere, which the faults make slow, deaf or wrong-footed.</summary>
internal sealed class SharedTable(Pump pump, Dice dice)
{
    private readonly InMemoryMembershipTable _table = new();

    /// <summary>Time of a request there and back again, in ticks.</summary>
    internal long Latency { get; set; } = Pump.Millisecond;

    /// <summary>Share of the requests that are refused before anything is done.</summary>
    internal double Refusals { get; set; }

    /// <summary>Share of the requests that are done but whose answer is lost.</summary>
    internal double LostAnswers { get; set; }

    /// <summary>Share of the writes that find another version than they expect, though nobody has written.</summary>
    internal double Conflicts { get; set; }

    /// <summary>Sees the requests; null if nobody does.</summary>
    internal IWireTap? Tap { get; set; }

    /// <summary>Hosts that cannot reach the table.</summary>
    internal HashSet<int> CutOff { get; } = [];

    internal TableSnapshot Snapshot => _table.Apply(new TableRequest(0, TableOperation.Read)).Snapshot;

    internal bool IsWhole => Refusals == 0 && LostAnswers == 0 && Conflicts == 0 && CutOff.Count == 0;

    internal void Heal()
    {
        Latency = Pump.Millisecond;
        Refusals = LostAnswers = Conflicts = 0;
        CutOff.Clear();
    }

    internal void Ask(Machine machine, TableRequest request, TaskCompletionSource<TableReply> answer)
    {
        // The answer of a table that cannot be reached is the requester's own timeout.
        if (CutOff.Contains(machine.Host))
            return;
        pump.After(dice.Exponential(Latency), null, EventKind.Table, "request", () =>
        {
            if (CutOff.Contains(machine.Host))
                return;
            var fate = Tap?.Arrives(machine, request) ?? TableFate.Answered;
            if (dice.Chance(Refusals) || fate == TableFate.Refused)
            {
                Answer(machine, () => answer.TrySetException(new IOException("The table refuses.")));
                return;
            }

            var isConflict = request.Operation == TableOperation.Write && dice.Chance(Conflicts);
            var reply = isConflict ? new TableReply(request.Id, false, Snapshot) : _table.Apply(request);
            if (fate == TableFate.Unanswered)
                return;
            if (dice.Chance(LostAnswers) || fate == TableFate.Failed)
            {
                if (fate == TableFate.Failed || dice.Chance(0.5))
                    Answer(machine, () => answer.TrySetException(new IOException("The table's answer is lost.")));
                return;
            }

            Answer(machine, () => answer.TrySetResult(reply));
        });
    }

    private void Answer(Machine machine, Action answer) => pump.After(dice.Exponential(Latency), machine, EventKind.Table, "reply", answer);
}

/// <summary>The table as one machine sees it.</summary>
internal sealed class MachineTable(SharedTable table, Machine machine) : IClusterTable
{
    public async ValueTask<TableReply> Execute(TableRequest request, CancellationToken cancellationToken)
    {
        var answer = new TaskCompletionSource<TableReply>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var registration = cancellationToken.Register(() => answer.TrySetCanceled(cancellationToken));
        table.Ask(machine, request, answer);
        return await answer.Task;
    }
}
