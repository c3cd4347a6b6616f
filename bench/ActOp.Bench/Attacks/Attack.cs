using System.Diagnostics;
using ActOp.Harness.Load;

namespace ActOp.Bench.Attacks;

/// <summary>What an attacker has to do with.</summary>
/// <param name="Gateway">The port of the gateway.</param>
/// <param name="Port">The port for silos.</param>
/// <param name="HonestName">The name of the honest client.</param>
/// <param name="Length">How long the attack lasts.</param>
internal sealed record AttackTarget(int Gateway, int Port, string HonestName, TimeSpan Length)
{
    private readonly List<RawNode> _nodes = [];
    private long _bytes;

    /// <summary>Bytes that were sent, those of nodes included.</summary>
    internal long Bytes => Interlocked.Read(ref _bytes) + _nodes.Sum(static node => node.Bytes);

    /// <summary>Counts bytes that no node has sent.</summary>
    internal void Count(long bytes) => Interlocked.Add(ref _bytes, bytes);

    /// <summary>A node that has a session with the silo; it stays until the process ends.</summary>
    internal async Task<RawNode> ConnectAsync(bool reads = true, Action<ActOp.Mesh.MeshOptions>? configure = null)
    {
        var node = new RawNode(reads: reads, configure: configure);
        _nodes.Add(node);
        await node.ConnectAsync(Gateway).WaitAsync(TimeSpan.FromSeconds(20));
        return node;
    }

    /// <summary>Calls <paramref name="step"/> so often in a second, in small bunches, until the time is over.</summary>
    internal async Task RepeatAsync(double perSecond, Action<int> step)
    {
        var clock = new MonotonicClock();
        var begin = clock.Now;
        for (var done = 0; ;)
        {
            var passed = clock.Now - begin;
            if (passed >= Length)
                return;
            for (var due = passed.TotalSeconds * perSecond; done < due && clock.Now - begin < Length; done++)
                step(done);
            await Task.Delay(5);
        }
    }
}

/// <summary>One attack, played by a process of its own.</summary>
/// <param name="Name">Its name on the command line.</param>
/// <param name="Line">The line of the list in docs/testing.md that it repeats.</param>
/// <param name="Rate">What it does, and how often: bounded, so that the attacker takes less than half a processor.</param>
/// <param name="CapMegabytes">What the silo may hold beyond 128 bytes for each byte received: the limits that SECURITY.md states.</param>
/// <param name="PlayAsync">Plays it.</param>
/// <param name="Keeps">What stays after the attacker has gone, as stated; null for nothing.</param>
internal sealed record Attack(
    string Name, string Line, string Rate, int CapMegabytes, Func<AttackTarget, Task> PlayAsync, string? Keeps = null)
{
    /// <summary>All of them.</summary>
    internal static IReadOnlyList<Attack> All { get; } = [.. ContentAttacks.All, .. ClientAttacks.All, .. StrangerAttacks.All];

    /// <summary>A load that computes and sends nothing, for comparison.</summary>
    internal static Attack Control(double share) => new(
        "control", "-", $"computes {share:P0} of a processor and sends nothing", 0, target => BurnAsync(target, share));

    private static async Task BurnAsync(AttackTarget target, double share)
    {
        var clock = new MonotonicClock();
        for (var begin = clock.Now; clock.Now - begin < target.Length;)
        {
            var busy = Stopwatch.StartNew();
            while (busy.Elapsed < TimeSpan.FromMilliseconds(5 * share))
            {
            }

            await Task.Delay(TimeSpan.FromMilliseconds(5 * (1 - share)));
        }
    }
}
