using ActOp.Floors;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Peers.Shapes;

namespace ActOp.Peers;

/// <summary>What is measured.</summary>
/// <param name="Shapes">The shapes.</param>
/// <param name="Kinds">The runtimes, which are built.</param>
/// <param name="Rounds">How often, in turn.</param>
/// <param name="Milliseconds">Length of a measurement.</param>
/// <param name="IsShort">Whether only a little is to be done.</param>
/// <param name="Limit">After which nothing more begins.</param>
/// <param name="Pin">Processors for the processes of the runtimes, as <c>taskset -c</c> takes them; null for all.</param>
/// <param name="Ports">The ports that may be used, as <see cref="Ports.Restrict"/> takes them; null for any.</param>
/// <param name="Hosts">Machines that start the silos; none for this one.</param>
internal sealed record PeerSettings(
    IReadOnlyList<Shape> Shapes, IReadOnlyList<PeerKind> Kinds, int Rounds, int Milliseconds, bool IsShort, TimeSpan Limit, string? Pin,
    string? Ports, IReadOnlyList<string> Hosts);

/// <summary>
/// Plays the shapes on the runtimes in turn: each round has all of them, so that what the machine does in the course of the run meets all.
/// Each play is a process of its own. One that dies or hangs is a line of the result, and the others go on.
/// </summary>
internal sealed class PeerRun(PeerSettings settings)
{
    internal const string NotAvailable = "not available: ";

    private const int FrameBytes = 50;
    private const int LongEvery = 3;
    private static readonly TimeSpan LongLimit = TimeSpan.FromMinutes(4);
    private static readonly TimeSpan ShortLimit = TimeSpan.FromMinutes(2);

    internal async Task<PeerResults> PlayAsync(CancellationToken cancellation)
    {
        var clock = new MonotonicClock();
        var (begin, played) = (clock.Now, 0);
        var results = new PeerResults { Rounds = settings.Rounds, Milliseconds = settings.Milliseconds };
        results.Runtimes.AddRange(settings.Kinds.Select(static kind => kind.Name).Append(PeerKind.Floor));
        var plays = Plays().ToList();
        foreach (var (round, shape, kind) in plays)
        {
            if (cancellation.IsCancellationRequested || clock.Now - begin > settings.Limit)
            {
                results.Fail(shape.Name, kind?.Name ?? PeerKind.Floor, "round " + round + " was not played: the time was over");
                continue;
            }

            var name = kind?.Name ?? PeerKind.Floor;
            Console.WriteLine($"[{++played}/{plays.Count}, {(clock.Now - begin).TotalSeconds:0} s] round {round}: {shape.Name}, {name}");
            if (kind is null)
                await FloorAsync(shape, results);
            else
                await PlayAsync(shape, kind, results, cancellation);
        }

        return results;
    }

    private IEnumerable<(int Round, Shape Shape, PeerKind? Kind)> Plays()
    {
        // Who asks for one shape, or for long ones alone, wants all rounds of them.
        var isLongRare = settings.Shapes.Count > 1 && settings.Shapes.Any(static shape => !shape.IsLong);
        for (var round = 1; round <= settings.Rounds; round++)
        {
            var isLong = round % LongEvery == 1 || !isLongRare;
            foreach (var shape in settings.Shapes.Where(shape => isLong || !shape.IsLong))
            {
                foreach (var kind in settings.Kinds.Where(kind => kind.Plays(shape) && (isLong || !kind.IsVariant)))
                    yield return (round, shape, kind);
                // What a socket gives between two machines is not what it gives on one.
                if (shape.Name is "pairs" or "silos" or "client" && settings.Hosts.Count == 0)
                    yield return (round, shape, null);
            }
        }
    }

    private async Task PlayAsync(Shape shape, PeerKind kind, PeerResults results, CancellationToken cancellation)
    {
        var measures = new List<Measure>();
        string[] command =
        [
            .. settings.Pin is { } pin ? (string[])["taskset", "-c", pin] : [], .. ChildProcess.CommandOf(kind.Assembly),
            .. PeerProgram.MeasureArguments(shape.Name, kind.Name, settings.Milliseconds, settings.IsShort, settings.Ports, settings.Hosts),
        ];
        await using var child = ChildProcess.StartCommand(kind.Name, command, line => TryTake(line, measures));
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        var playLimit = settings.IsShort ? ShortLimit : LongLimit;
        limit.CancelAfter(playLimit);
        try
        {
            var code = await child.WaitForExitAsync(limit.Token);
            if (code == PeerProgram.HasNot)
                results.Fail(shape.Name, kind.Name, "it has no such thing");
            else if (code == PeerProgram.NotHere)
                results.Fail(shape.Name, kind.Name, NotAvailable + Cause(child.Tail));
            else if (code != 0)
                results.Fail(shape.Name, kind.Name, "exit code " + code + ": " + Cause(child.Tail));
        }
        catch (OperationCanceledException)
        {
            child.Kill();
            results.Fail(shape.Name, kind.Name, "no end after " + playLimit.TotalSeconds + " s");
        }

        measures.ForEach(measure => results.Add(shape.Name, kind.Name, measure));
    }

    /// <summary>What ended a process, of the last that it has said.</summary>
    private static string Cause(string said)
    {
        var lines = said.Split(Environment.NewLine);
        return Array.Find(lines, static line => line.StartsWith("Unhandled exception", StringComparison.Ordinal)) ?? lines[^1];
    }

    private static bool TryTake(string line, List<Measure> measures)
    {
        if (!JsonLines.TryRead<Measure>(line, out var measure))
            return false;
        measures.Add(measure!);
        return true;
    }

    /// <summary>What the machine gives at most: channels between threads, and a bare socket.</summary>
    private async Task FloorAsync(Shape shape, PeerResults results)
    {
        var length = TimeSpan.FromMilliseconds(settings.Milliseconds);
        foreach (var count in (int[])(shape.Name == "pairs" ? [1, 2, 100] : shape.Name == "silos" ? [1, 128, 1024] : [1, 128]))
        {
            var noun = (shape.Name == "client" ? "caller" : "pair") + (count == 1 ? "" : "s");
            var rate = shape.Name == "pairs"
                ? (await ChannelFloor.MeasureAsync(count, oneCore: false, 1, length)).RoundTripsPerSecond.Median
                : SocketFloor.Measure(FrameBytes, count, 1, length).EchoesPerSecond.Median;
            var where = shape.Name == "pairs" ? "one silo" : shape.Name == "silos" ? "two silos" : "client";
            results.Add(shape.Name, PeerKind.Floor, new Measure($"{where}, {count} {noun}", "calls/s", rate, true));
        }
    }
}
