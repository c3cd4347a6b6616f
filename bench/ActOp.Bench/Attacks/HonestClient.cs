using System.Globalization;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using ActOp.Runtime.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orleans.Configuration;

namespace ActOp.Bench.Attacks;

/// <summary>What the honest client has seen in a phase.</summary>
/// <param name="Phase">Its name.</param>
/// <param name="Calls">Calls answered.</param>
/// <param name="Failed">Calls that failed or got no answer.</param>
/// <param name="Errors">How.</param>
/// <param name="P50">Median of the latency from the intended start, ms.</param>
/// <param name="P99">Its 99th percentile.</param>
/// <param name="Max">Its maximum.</param>
/// <param name="Connects">New connections that were made, with their handshakes.</param>
/// <param name="ConnectsFailed">Those that took more than 5 s.</param>
/// <param name="ConnectP50">Median of their time, ms.</param>
/// <param name="ConnectMax">The longest one.</param>
internal sealed record HonestPhase(
    string Phase, long Calls, long Failed, string[] Errors, double P50, double P99, double Max, long Connects, long ConnectsFailed,
    double ConnectP50, double ConnectMax);

/// <summary>
/// The honest client, in a process of its own: calls at random times at a fixed rate, whatever the answers do, of which one in ten calls a
/// grain that nobody has called and one in 200 wants 100 KB; and beside them one new connection after another. A line on its standard input
/// begins the phase of that name; an empty line ends the last one, and all are reported.
/// </summary>
internal static class HonestClient
{
    internal const string Command = "attack-honest";

    private const int Grains = 100;
    private const int LargeBytes = 100_000;
    private static readonly TimeSpan ConnectLimit = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan BetweenConnects = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan CallLimit = TimeSpan.FromSeconds(10);

    internal static async Task<int> RunAsync(int gateway, double rate)
    {
        var builder = QuietHost.CreateBuilder();
        builder.UseOrleansClient(client =>
        {
            client.UseLocalhostClustering([gateway]).UseClusterSecret(RawNode.ClientSecret);
            client.Configure<ClientMessagingOptions>(static options => options.ResponseTimeout = CallLimit);
        });
        using var host = builder.Build();
        await host.StartAsync();
        var grains = host.Services.GetRequiredService<IGrainFactory>();
        var load = new PhasedLoad(grains, rate);
        var ended = false;
        var connecting = Task.Factory.StartNew(
            () => ConnectAgainAndAgain(gateway, load, () => Volatile.Read(ref ended)), TaskCreationOptions.LongRunning);
        var calling = Task.Factory.StartNew(() => load.Run(() => Volatile.Read(ref ended)), TaskCreationOptions.LongRunning);
        Console.Out.WriteLine("ready " + host.Services.GetRequiredService<Node>().Address.ToParsableString());
        Console.Out.Flush();
        while (await Console.In.ReadLineAsync() is { Length: > 0 } line)
            load.Begin(line);
        Volatile.Write(ref ended, true);
        await connecting;
        await calling;
        foreach (var phase in load.Phases)
            JsonLines.Write(Console.Out, phase.Report());
        Console.Out.WriteLine("reported");
        Console.Out.Flush();
        return 0;
    }

    private static void ConnectAgainAndAgain(int gateway, PhasedLoad load, Func<bool> isOver)
    {
        var clock = new MonotonicClock();
        while (!isOver())
        {
            var (phase, begin) = (load.Current, clock.Now);
            using (var node = new RawNode(waitMs: 1))
            {
                if (node.ConnectAsync(gateway).Wait(ConnectLimit))
                    phase.Connects.Record(clock.Now - begin);
                else
                    phase.CountFailedConnect();
            }

            clock.WaitUntil(begin + BetweenConnects);
        }
    }

    /// <summary>A phase while it is counted.</summary>
    internal sealed class Phase(string name)
    {
        private long _connectsFailed;

        internal string Name => name;

        internal LatencyHistogram Latency { get; } = new();

        internal RequestTally Tally { get; } = new();

        internal LatencyHistogram Connects { get; } = new();

        internal void CountFailedConnect() => Interlocked.Increment(ref _connectsFailed);

        internal HonestPhase Report()
        {
            var (calls, connects) = (Latency.Summarize(), Connects.Summarize());
            return new HonestPhase(
                Name, Tally.Answered, Tally.Errors, Tally.ErrorTexts, calls.P50, calls.P99, calls.Max, Connects.Count,
                Interlocked.Read(ref _connectsFailed), connects.P50, connects.Max);
        }
    }

    /// <summary>The calls. A request belongs to the phase in which it was to start.</summary>
    private sealed class PhasedLoad
    {
        private readonly MonotonicClock _clock = new();
        private readonly IPrey[] _known;
        private readonly IGrainFactory _grains;
        private readonly double _rate;
        private volatile Phase _current = new("before");
        private int _count;

        internal PhasedLoad(IGrainFactory grains, double rate)
        {
            (_grains, _rate) = (grains, rate);
            _known = [.. Enumerable.Range(0, Grains).Select(number => grains.GetGrain<IPrey>("honest" + number))];
        }

        internal List<Phase> Phases { get; } = [];

        internal Phase Current => _current;

        internal void Begin(string name)
        {
            var phase = new Phase(name);
            Phases.Add(phase);
            _current = phase;
        }

        internal void Run(Func<bool> isOver)
        {
            var loop = new OpenLoop(_clock, Ask, 100_000);
            var arrivals = new PoissonArrivals(_rate, _clock.Now, 1);
            while (!isOver())
            {
                var now = _clock.Now;
                var phase = _current;
                loop.SendDue(arrivals, now, TimeSpan.MaxValue, phase.Latency, phase.Tally);
                _clock.WaitUntil(arrivals.Next);
            }

            loop.Drain(CallLimit + CallLimit, _current.Tally, CancellationToken.None);
        }

        private async ValueTask<int> Ask()
        {
            var number = _count++;
            if (number % 200 == 7)
            {
                if ((await _known[number % Grains].Large(LargeBytes).ConfigureAwait(false)).Length != LargeBytes)
                    throw new InvalidOperationException("Another answer.");
                return 1;
            }

            var grain = number % 10 == 3
                ? _grains.GetGrain<IPrey>("new" + number.ToString(CultureInfo.InvariantCulture)) : _known[number % Grains];
            if (await grain.Echo(number).ConfigureAwait(false) != number)
                throw new InvalidOperationException("Another answer.");
            return 1;
        }
    }
}
