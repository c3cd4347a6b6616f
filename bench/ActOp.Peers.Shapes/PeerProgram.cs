using System.Globalization;
using ActOp.Harness.Processes;

namespace ActOp.Peers.Shapes;

/// <summary>
/// The program of each runtime: plays a shape and prints its measures as lines of JSON
/// (<c>measure SHAPE VARIANT MILLISECONDS short|full</c>), or is a silo of one
/// (<c>silo VARIANT PORT GATEWAY PRIMARY moves|stays</c>).
/// </summary>
public static class PeerProgram
{
    /// <summary>What a silo says when it is active.</summary>
    public const string Ready = "ready";

    /// <summary>The exit code for a shape that a runtime has not.</summary>
    public const int HasNot = 3;

    private const string Moves = "moves";
    private const string Stays = "stays";

    internal static string[] SiloArguments(string variant, PeerPorts ports) =>
        ["silo", variant, Text(ports.Port), Text(ports.Gateway), Text(ports.Primary), ports.MayMove ? Moves : Stays];

    /// <summary>The arguments that have a shape played.</summary>
    public static string[] MeasureArguments(string shape, string variant, int milliseconds, bool isShort) =>
        ["measure", shape, variant, Text(milliseconds), isShort ? "short" : "full"];

    /// <summary>Runs the program.</summary>
    /// <param name="arguments">Its arguments.</param>
    /// <param name="runtimeOf">The runtime of a variant.</param>
    public static async Task<int> RunAsync(string[] arguments, Func<string, IPeerRuntime> runtimeOf)
    {
        try
        {
            switch (arguments)
            {
                case ["measure", var shape, var variant, var milliseconds, var scale]:
                    await using (var run = new ShapeRun(
                        runtimeOf(variant), variant, Shape.Find(shape)!.Moves, Number(milliseconds), scale == "short",
                        static measure => JsonLines.Write(Console.Out, measure)))
                    {
                        await Shape.Find(shape)!.PlayAsync(run);
                    }

                    return 0;
                case ["silo", var variant, var port, var gateway, var primary, var moves]:
                    var ended = ParentWatch.Start();
                    await using (await runtimeOf(variant).StartSiloAsync(
                        new PeerPorts(Number(port), Number(gateway), Number(primary), moves == Moves)))
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
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);
}
