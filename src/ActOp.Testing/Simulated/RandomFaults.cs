using System.Globalization;

namespace ActOp.Testing.Simulated;

/// <summary>What may go wrong by chance.</summary>
internal sealed record RandomFaultKinds
{
    internal bool Crash { get; init; }

    internal bool Partitions { get; init; }

    internal bool Storage { get; init; }

    internal bool Pauses { get; init; }

    internal bool Moves { get; init; }

    internal bool Messages { get; init; }

    internal bool Duplicates { get; init; }

    internal bool Clocks { get; init; }
}

/// <summary>What happens to a call, a request to a storage, or a cluster, beside what the test does.</summary>
internal enum Misfortune
{
    None,

    /// <summary>The silo ends before the call or the write is done.</summary>
    CrashBefore,

    /// <summary>The silo ends after the call or the write is done, before anybody knows.</summary>
    CrashAfter,

    /// <summary>The links of the silo are lost when the call is done, with its answer.</summary>
    LoseLinks,

    /// <summary>A call without an answer does not arrive.</summary>
    LoseMessage,

    /// <summary>A call without an answer, or a tick of a reminder, comes twice.</summary>
    Repeat,

    /// <summary>The activation ends after the call.</summary>
    Deactivate,

    /// <summary>The activation moves after the call.</summary>
    Migrate,

    /// <summary>The storage refuses.</summary>
    Refuse,

    /// <summary>The storage does it, and the answer is an error.</summary>
    LoseAnswer,

    /// <summary>The storage is slow.</summary>
    Slow,

    /// <summary>A silo is cut off from another one, or from the client.</summary>
    Partition,

    /// <summary>A silo stands still.</summary>
    Pause,

    /// <summary>A silo ends at any moment.</summary>
    Crash,

    /// <summary>The wall clock of a silo is set.</summary>
    Clock,
}

/// <summary>
/// Draws what goes wrong at each of the moments of a run: each call, each request to a storage, each slice of time. What is drawn for a
/// moment depends on the seed and on its number only, so that a fault that is left out changes nothing of the others.
/// </summary>
/// <remarks>Owns the counts of the moments. Only the thread of the pump uses it.</remarks>
internal sealed class RandomFaults
{
    internal const int NoCommand = -1;

    private readonly Dice _root;
    private readonly RunPlan _plan;
    private readonly Dictionary<char, List<int>> _moments = [];
    private readonly double _messages;
    private readonly double _repeats;
    private readonly double _crashes;
    private readonly double _links;
    private readonly double _moves;
    private readonly double _storage;
    private readonly double _storageCrashes;
    private readonly Misfortune[] _ofTime;

    internal RandomFaults(Dice dice, RunPlan plan, RandomFaultKinds kinds)
    {
        (_root, _plan) = (dice, plan);
        var rates = dice.Fork("rates");
        _crashes = Rate(rates, kinds.Crash, [0, 0.005, 0.03, 0.1]);
        _links = Rate(rates, kinds.Partitions, [0, 0.01, 0.05, 0.2]);
        _moves = Rate(rates, kinds.Moves, [0, 0.02, 0.1, 0.3]);
        _storage = Rate(rates, kinds.Storage, [0, 0.02, 0.1, 0.3]);
        _storageCrashes = Rate(rates, kinds.Crash, [0, 0.01, 0.05, 0.1]);
        _messages = Rate(rates, kinds.Messages, [0, 0.05, 0.2, 0.5]);
        Slice = rates.Pick<long>([5, 50, 500, 5000]) * Pump.Millisecond;
        var ofTime = new List<Misfortune>();
        if (kinds.Crash && rates.Chance(0.5))
            ofTime.Add(Misfortune.Crash);
        if (kinds.Partitions && rates.Chance(0.7))
            ofTime.Add(Misfortune.Partition);
        if (kinds.Pauses && rates.Chance(0.7))
            ofTime.Add(Misfortune.Pause);
        if (kinds.Clocks && rates.Chance(0.7))
            ofTime.Add(Misfortune.Clock);
        _ofTime = [.. ofTime];
        _repeats = Rate(rates, kinds.Duplicates, [0, 0.05, 0.2, 0.5]);
    }

    /// <summary>The last command of the test that has begun; <see cref="NoCommand"/> before the first one.</summary>
    internal int Command { get; set; } = NoCommand;

    /// <summary>For each kind of moment, by its letter, the command of each of the moments.</summary>
    internal IReadOnlyDictionary<char, List<int>> Moments => _moments;

    /// <summary>The faults that were drawn and may happen, in order.</summary>
    internal List<string> Struck { get; } = [];

    /// <summary>From one look at the clock to the next, in ticks.</summary>
    internal long Slice { get; }

    /// <summary>Nothing goes wrong by chance any more.</summary>
    internal bool IsOver { get; set; }

    internal bool HasSlices => _ofTime.Length > 0;

    /// <summary>Calls without an answer so far that might have been lost.</summary>
    internal int Messages { get; private set; }

    /// <summary>What happens to the next call.</summary>
    internal (Misfortune Kind, Dice Dice) OfCall() => At('c', dice =>
        dice.Chance(_crashes) ? dice.Pick<Misfortune>([Misfortune.CrashBefore, Misfortune.CrashAfter])
            : dice.Chance(_links) ? Misfortune.LoseLinks
            : dice.Chance(_moves) ? dice.Pick<Misfortune>([Misfortune.Deactivate, Misfortune.Migrate])
            : Misfortune.None);

    /// <summary>What happens to the next call without an answer, before it counts as a call.</summary>
    internal Misfortune OfMessage()
    {
        if (!IsOver)
            Messages++;
        return At('m', dice => dice.Chance(_messages) ? Misfortune.LoseMessage : Misfortune.None).Kind;
    }

    /// <summary>What happens to the next call without an answer that arrives, or to the next tick of a reminder.</summary>
    internal Misfortune OfDelivery() => At('d', dice => dice.Chance(_repeats) ? Misfortune.Repeat : Misfortune.None).Kind;

    /// <summary>What happens to the next read of a storage.</summary>
    internal (Misfortune Kind, Dice Dice) OfRead() => At('r', dice =>
        dice.Chance(_storage / 2) ? dice.Pick<Misfortune>([Misfortune.Refuse, Misfortune.Slow]) : Misfortune.None);

    /// <summary>What happens to the next write of a storage.</summary>
    internal (Misfortune Kind, Dice Dice) OfWrite() => At('w', dice =>
        dice.Chance(_storage) ? dice.Pick<Misfortune>([Misfortune.Refuse, Misfortune.LoseAnswer, Misfortune.LoseAnswer, Misfortune.Slow])
            : dice.Chance(_storageCrashes) ? dice.Pick<Misfortune>([Misfortune.CrashBefore, Misfortune.CrashAfter])
            : Misfortune.None);

    /// <summary>What happens in the next slice of time.</summary>
    internal (Misfortune Kind, Dice Dice) OfSlice() => At('t', dice =>
        _ofTime.Length > 0 && dice.Chance(0.1) ? dice.Pick(_ofTime) : Misfortune.None);

    private (Misfortune Kind, Dice Dice) At(char kind, Func<Dice, Misfortune> draw)
    {
        if (!_moments.TryGetValue(kind, out var moments))
            _moments.Add(kind, moments = []);
        moments.Add(Command);
        if (IsOver || _plan.At(kind + moments.Count.ToString(CultureInfo.InvariantCulture)) is not { } name)
            return (Misfortune.None, _root);
        var dice = _root.Fork(RunPlan.DrawnFor(name));
        var drawn = RunPlan.IsLoss(name) ? Misfortune.LoseMessage : draw(dice);
        if (drawn == Misfortune.None)
            return (Misfortune.None, dice);
        Struck.Add(name);
        return (drawn, dice);
    }

    private static double Rate(Dice dice, bool isOn, double[] rates)
    {
        var rate = dice.Pick(rates);
        return isOn ? rate : 0;
    }
}
