using System.Text.Json;
using ActOp.Testing.Simulated;
using Microsoft.Extensions.DependencyInjection;

namespace ActOp.Simulation.World;

/// <summary>What a store cannot do for a while.</summary>
internal enum StoreTrouble
{
    None,

    /// <summary>Every request is refused.</summary>
    Refuses,

    /// <summary>Every request waits until it is over; then it is done, however long ago its caller has given up.</summary>
    Hangs,

    /// <summary>The disk is full: reads are answered, writes are refused.</summary>
    Full,
}

/// <summary>Where the keepers of a run have their states, as somebody sees it who sees everything: every version of every record.</summary>
internal abstract class KeeperStore
{
    private readonly HashSet<(Machine, string)> _foundNothing = [];

    /// <summary>Kills a machine.</summary>
    internal Action<Machine> Kill { get; set; } = static _ => { };

    /// <summary>Ends all silos at once, because the one machine of all loses its power. False if that may not be now.</summary>
    internal Func<bool> EndAll { get; set; } = static () => false;

    /// <summary>Told of every record that was written.</summary>
    internal Action<string, string> Written { get; set; } = static (_, _) => { };

    /// <summary>Says what must not happen: the oracle and the text.</summary>
    internal Action<string, string> Accuse { get; set; } = static (_, _) => { };

    /// <summary>What it cannot do now.</summary>
    internal abstract StoreTrouble Trouble { get; set; }

    /// <summary>Writes that were done, and those that found another version.</summary>
    internal (long Done, long Conflicts) Writes { get; private protected set; }

    /// <summary>The record as it is, whatever happens now; null if there is none.</summary>
    internal T? Peek<T>(string key) => Stored(key) is { } json ? JsonSerializer.Deserialize<T>(json) : default;

    /// <summary>The record as it was at that version.</summary>
    internal T? At<T>(string key, string etag) => StoredAt(key, etag) is { } json ? JsonSerializer.Deserialize<T>(json) : default;

    /// <summary>Whether the machine was ever told that there is no such record.</summary>
    internal bool HasFoundNothing(Machine machine, string key) => _foundNothing.Contains((machine, key));

    /// <summary>Adds the storage provider of a machine.</summary>
    internal abstract void Configure(Machine machine, IServiceCollection services, string name);

    /// <summary>Is unreliable from now on; only slow in a calm run.</summary>
    internal abstract void BeginFaults(Dice dice, bool isCalm);

    internal abstract void EndFaults();

    /// <summary>What has happened.</summary>
    internal virtual IEnumerable<(string Name, long Count)> Counts =>
        [("store writes", Writes.Done), ("store conflicts", Writes.Conflicts)];

    private protected abstract string? Stored(string key);

    private protected abstract string? StoredAt(string key, string etag);

    private protected void FoundNothing(Machine machine, string key) => _foundNothing.Add((machine, key));
}
