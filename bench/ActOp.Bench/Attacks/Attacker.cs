using System.Diagnostics;
using System.Globalization;
using ActOp.Harness.Processes;

namespace ActOp.Bench.Attacks;

/// <summary>The process of an attacker: says that it is ready, and plays its attack when it is told to.</summary>
internal static class Attacker
{
    internal const string Command = "attack-by";

    internal static async Task<int> RunAsync(string name, int port, int gateway, string honest, double seconds)
    {
        var share = name.StartsWith("control", StringComparison.Ordinal)
            ? double.Parse(name["control".Length..], CultureInfo.InvariantCulture) : -1;
        var attack = share >= 0 ? Attack.Control(share) : Attack.All.Single(one => one.Name == name);
        var target = new AttackTarget(gateway, port, honest, TimeSpan.FromSeconds(seconds));
        Console.Out.WriteLine("ready");
        Console.Out.Flush();
        if (await Console.In.ReadLineAsync() is null)
            return 1;
        using var self = Process.GetCurrentProcess();
        var (before, watch) = (self.TotalProcessorTime, Stopwatch.StartNew());
        await attack.PlayAsync(target);
        self.Refresh();
        JsonLines.Write(Console.Out, new AttackerReport(target.Bytes, (self.TotalProcessorTime - before) / watch.Elapsed));
        // At once: an attacker says no goodbye.
        Environment.Exit(0);
        return 0;
    }
}
