using ActOp.Testing.Simulated;

namespace ActOp.Testing;

/// <summary>
/// What a test has asked for, what was acknowledged and what happened, by numbers that the test gives: payments, orders, messages.
/// <see cref="Check"/> finds effects that are lost, twice there, or that nobody has asked for.
/// </summary>
/// <remarks>Used on the thread of the simulation only.</remarks>
public sealed class SimulationLedger
{
    private readonly SimulatedRun _run;
    private readonly string _name;
    private readonly SortedDictionary<string, Entry> _entries = new(StringComparer.Ordinal);

    internal SimulationLedger(SimulatedRun run, string name) => (_run, _name) = (run, name);

    /// <summary>Something is asked for now. It may happen from now on, once.</summary>
    public void Ask(object id) => EntryOf(id).IsAsked = true;

    /// <summary>The caller was told that it is done: it must have happened.</summary>
    public void Acknowledge(object id) => EntryOf(id).IsAcknowledged = true;

    /// <summary>It was found where effects are seen, such as in a state that was read at the end.</summary>
    /// <param name="id">Its number.</param>
    /// <param name="times">How often it is there.</param>
    public void Note(object id, int times = 1)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(times);
        EntryOf(id).Times += times;
    }

    /// <summary>Asks for something, makes the call, and notes that it was acknowledged if the call returns.</summary>
    public async Task Call(object id, Func<Task> call)
    {
        ArgumentNullException.ThrowIfNull(call);
        Ask(id);
        await call().ConfigureAwait(true);
        Acknowledge(id);
    }

    /// <summary>
    /// Ends the run as a failure if something that was acknowledged has not happened, or anything happened more than once, or without
    /// having been asked for. To be called when all effects were found, after <see cref="SimulationWorld.Settle"/>.
    /// </summary>
    public void Check()
    {
        Fail("lost", "acknowledged and not there", static one => one is { IsAcknowledged: true, Times: 0 });
        Fail("twice", "there more than once", static one => one.Times > 1);
        Fail("unasked", "there and never asked for", static one => one is { IsAsked: false, Times: > 0 });
    }

    private void Fail(string kind, string text, Predicate<Entry> isWrong)
    {
        string[] wrong = [.. _entries.Where(one => isWrong(one.Value)).Select(static one => one.Key)];
        if (wrong.Length == 0)
            return;
        _run.Tell("ledger", _name + ": " + text + ": " + string.Join(", ", wrong));
        throw new CheckFailedException("Of " + _name + " are " + text + ": " + string.Join(", ", wrong) + ".", kind + " of " + _name);
    }

    private Entry EntryOf(object id)
    {
        ArgumentNullException.ThrowIfNull(id);
        var key = Convert.ToString(id, System.Globalization.CultureInfo.InvariantCulture) ?? "";
        return _entries.TryGetValue(key, out var entry) ? entry : _entries[key] = new Entry();
    }

    private sealed class Entry
    {
        internal bool IsAsked { get; set; }

        internal bool IsAcknowledged { get; set; }

        internal int Times { get; set; }
    }
}
