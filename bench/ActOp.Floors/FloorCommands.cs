using System.CommandLine;
using System.Globalization;
using ActOp.Harness.Reports;

namespace ActOp.Floors;

/// <summary>The command line of the floors.</summary>
public static class FloorCommands
{
    private static readonly int[] Pairs = [1, 100];
    private static readonly int[] Windows = [1, 8, 128, 1024];

    /// <summary>Builds the root command: measures both floors, or the one that is named.</summary>
    public static RootCommand Build()
    {
        var runs = new Option<int>("--runs") { Description = "Runs of each measurement.", DefaultValueFactory = _ => 3, Recursive = true };
        var seconds =
            new Option<double>("--seconds") { Description = "Length of one run.", DefaultValueFactory = _ => 1, Recursive = true };
        var frame = new Option<int>("--frame") { Description = "Bytes of a frame.", DefaultValueFactory = _ => 100, Recursive = true };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON.", Recursive = true };
        var root = new RootCommand("Floors: what a bare channel hand-off and a bare pipelined socket echo do on this machine.");
        foreach (var option in (Option[])[runs, seconds, frame, json])
            root.Options.Add(option);
        root.SetAction(parsed => RunAsync(parsed, true, true));
        root.Subcommands.Add(Sub("channel", "Two tasks that ping-pong over channels.", parsed => RunAsync(parsed, true, false)));
        root.Subcommands.Add(Sub("socket", "Pipelined echo between two processes over loopback.", parsed => RunAsync(parsed, false, true)));
        var server = Sub(SocketFloor.ServerCommand, "The echoing process.", parsed =>
        {
            EchoServer.Run(parsed.GetValue(frame));
            return Task.FromResult(0);
        });
        server.Hidden = true;
        root.Subcommands.Add(server);
        return root;

        async Task<int> RunAsync(ParseResult parsed, bool channel, bool socket)
        {
            var count = parsed.GetValue(runs);
            var duration = TimeSpan.FromSeconds(parsed.GetValue(seconds));
            if (count is < 1 or > 100 || duration <= TimeSpan.Zero || duration > TimeSpan.FromMinutes(1)
                || parsed.GetValue(frame) is < 1 or > 4096)
            {
                Console.Error.WriteLine("--runs must be 1 to 100, --seconds above 0 and at most 60, --frame 1 to 4096.");
                return 2;
            }
            var channels = channel ? await MeasureChannels(count, duration).ConfigureAwait(false) : [];
            var sockets = socket ? MeasureSockets(parsed.GetValue(frame), count, duration) : [];
            if (parsed.GetValue(json) is { } file)
                ReportFile.WriteJson(file, new { channels, sockets });
            return 0;
        }
    }

    private static Command Sub(string name, string text, Func<ParseResult, Task<int>> run)
    {
        var command = new Command(name, text);
        command.SetAction(run);
        return command;
    }

    private static async Task<List<ChannelResult>> MeasureChannels(int runs, TimeSpan duration)
    {
        var results = new List<ChannelResult>();
        foreach (var oneCore in (bool[])[true, false])
        {
            foreach (var pairs in Pairs)
            {
                var result = await ChannelFloor.MeasureAsync(pairs, oneCore, runs, duration).ConfigureAwait(false);
                results.Add(result);
                Console.WriteLine($"channel  {pairs,4} pairs   {(oneCore ? "one core " : "all cores")}  {Text(result.RoundTripsPerSecond)} round trips/s");
            }
        }
        return results;
    }

    private static List<SocketResult> MeasureSockets(int frame, int runs, TimeSpan duration)
    {
        var results = new List<SocketResult>();
        foreach (var window in Windows)
        {
            var result = SocketFloor.Measure(frame, window, runs, duration);
            results.Add(result);
            Console.WriteLine($"socket   {window,4} in flight, {frame} bytes  {Text(result.EchoesPerSecond)} echoes/s  median {Text(result.MedianMicroseconds)} us");
        }
        return results;
    }

    private static string Text(Spread spread) =>
        string.Create(CultureInfo.InvariantCulture, $"{Short(spread.Median)} ({Short(spread.Min)} to {Short(spread.Max)})");

    private static string Short(double value) => value.ToString(value >= 1000 ? "N0" : "0.0", CultureInfo.InvariantCulture);
}
