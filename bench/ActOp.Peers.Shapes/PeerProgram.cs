using System.Globalization;
using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>
/// The program of each runtime: plays a shape and prints its measures as lines of JSON
/// (<c>measure SHAPE VARIANT MILLISECONDS short|full PORTS HOSTS</c>), or is a silo of one
/// (<c>silo VARIANT HOST PORT GATEWAY PRIMARYHOST PRIMARY moves|stays</c>).
/// </summary>
public static class PeerProgram
{
    /// <summary>What a silo says when it is active.</summary>
    public const string Ready = "ready";

    /// <summary>The exit code for a shape that a runtime has not.</summary>
    public const int HasNot = 3;

    /// <summary>The exit code for a shape that needs what is not on this machine.</summary>
    public const int NotHere = 4;

    private const string Any = "-";
    private const string Moves = "moves";
    private const string Stays = "stays";

    internal static string[] SiloArguments(string variant, PeerPorts ports) =>
    [
        "silo", variant, ports.Host, Text(ports.Port), Text(ports.Gateway), ports.PrimaryHost, Text(ports.Primary),
        ports.MayMove ? Moves : Stays,
    ];

    /// <summary>The arguments that have a shape played.</summary>
    public static string[] MeasureArguments(
        string shape, string variant, int milliseconds, bool isShort, string? ports, IReadOnlyList<string> hosts) =>
    [
        "measure", shape, variant, Text(milliseconds), isShort ? "short" : "full", ports ?? Any,
        hosts.Count == 0 ? Any : string.Join(',', hosts),
    ];

    /// <summary>Runs the program.</summary>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="runtimeOf">The runtime of a variant.</param>
    public static async Task<int> RunAsync(string[] arguments, Func<string, IPeerRuntime> runtimeOf)
    {
        try
        {
            switch (arguments)
            {
                case ["measure", var shape, var variant, var milliseconds, var scale, var ports, var hosts]:
                    if (ports != Any)
                        Ports.Restrict(ports);
                    var settings = new ShapeSettings(
                        variant, Shape.Find(shape)!.Moves, Number(milliseconds), scale == "short", hosts == Any ? [] : hosts.Split(','));
                    await using (var run = new ShapeRun(
                        runtimeOf(variant), settings, static measure => JsonLines.Write(Console.Out, measure)))
                    {
                        await Shape.Find(shape)!.PlayAsync(run);
                    }

                    return 0;
                case ["silo", var variant, var host, var port, var gateway, var primaryHost, var primary, var moves]:
                    var ended = ParentWatch.Start();
                    await using (await runtimeOf(variant).StartSiloAsync(
                        new PeerPorts(Number(port), Number(gateway), Number(primary), moves == Moves)
                        {
                            Host = host,
                            PrimaryHost = primaryHost,
                        }))
                    {
                        await Console.Out.WriteLineAsync(Ready);
                        await Task.Delay(Timeout.Infinite, ended).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                    }

                    return 0;
                default:
                    await Console.Error.WriteLineAsync("Started by ActOp.Peers.");
                    return 2;
            }
        }
        catch (NotSupportedException)
        {
            return HasNot;
        }
        catch (NotHereException exception)
        {
            await Console.Error.WriteLineAsync(exception.Message);
            return NotHere;
        }
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}
