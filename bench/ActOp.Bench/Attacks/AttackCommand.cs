using System.CommandLine;
using System.Globalization;
using ActOp.Harness.Reports;

namespace ActOp.Bench.Attacks;

/// <summary>How attacks are played.</summary>
/// <param name="Length">Of each of the two phases.</param>
/// <param name="Warm">Before them.</param>
/// <param name="RoundTrip">Of the network.</param>
/// <param name="CallsPerSecond">Of the honest client.</param>
internal sealed record AttackSettings(TimeSpan Length, TimeSpan Warm, TimeSpan RoundTrip, double CallsPerSecond);

/// <summary>The command <c>attacks</c>, and the hidden ones of its processes.</summary>
internal static class AttackCommand
{
    /// <summary>The attacks of the short form: one of each kind.</summary>
    private static readonly string[] Short = ["doubled-key", "strangers-1000", "activations"];

    internal static Command Build()
    {
        var names = new Option<string[]>("--attack")
        {
            Description = "Plays these only: " + string.Join(", ", Attack.All.Select(static one => one.Name)) + ".",
            AllowMultipleArgumentsPerToken = true,
        };
        var seconds = new Option<double>("--seconds") { Description = "Length of each phase.", DefaultValueFactory = _ => 8 };
        var roundTrip = new Option<double>("--round-trip") { Description = "Of the network, in ms.", DefaultValueFactory = _ => 5 };
        var rate = new Option<double>("--rate") { Description = "Calls of the honest client in a second.", DefaultValueFactory = _ => 150 };
        var isShort = new Option<bool>("--short") { Description = "Plays " + string.Join(", ", Short) + " only, for 2 s each." };
        var ignoreBars = new Option<bool>("--ignore-bars") { Description = "Succeeds when a bar is missed, too." };
        var json = new Option<string?>("--json") { Description = "File for the results as JSON." };
        var command = new Command(
            "attacks",
            "Attackers beside an honest client, over a network with a round trip. Fails when one of them hurts the client or the silo.")
        {
            names, seconds, roundTrip, rate, isShort, ignoreBars, json,
        };
        command.SetAction(async (parsed, _) =>
        {
            var chosen = parsed.GetValue(isShort) ? Short : parsed.GetValue(names) is { Length: > 0 } named ? named
                : [.. Attack.All.Select(static one => one.Name)];
            if (chosen.FirstOrDefault(static name => !Attack.All.Any(one => one.Name == name)) is { } unknown)
            {
                Console.Error.WriteLine("There is no attack called " + unknown + ".");
                return 2;
            }

            var length = TimeSpan.FromSeconds(parsed.GetValue(isShort) ? 2 : parsed.GetValue(seconds));
            var settings = new AttackSettings(
                length, length / 4, TimeSpan.FromMilliseconds(parsed.GetValue(roundTrip)), parsed.GetValue(rate));
            var held = await RunAsync([.. Attack.All.Where(one => chosen.Contains(one.Name))], settings, parsed.GetValue(json));
            return held || parsed.GetValue(ignoreBars) ? 0 : 1;
        });
        return command;
    }

    internal static IEnumerable<Command> BuildProcesses()
    {
        yield return Hidden(AttackSilo.Command, static arguments => AttackSilo.RunAsync(
            [Number(arguments[0]), Number(arguments[1])], [Number(arguments[2]), Number(arguments[3])]));
        yield return Hidden(HonestClient.Command, static arguments => HonestClient.RunAsync(Number(arguments[0]), Decimal(arguments[1])));
        yield return Hidden(Attacker.Command, static arguments => Attacker.RunAsync(
            arguments[0], Number(arguments[1]), Number(arguments[2]), arguments[3], Decimal(arguments[4])));
        yield return Hidden(AttackRun.RelayCommand, static arguments => AttackRun.RelayAsync(
            [Number(arguments[0]), Number(arguments[1])], [Number(arguments[2]), Number(arguments[3])],
            TimeSpan.FromMilliseconds(Decimal(arguments[4]))));
    }

    /// <summary>True if all bars were held.</summary>
    private static async Task<bool> RunAsync(Attack[] attacks, AttackSettings settings, string? json)
    {
        var results = new List<AttackResult>();
        foreach (var attack in attacks)
            results.Add(await PlayAsync(attack, settings));
        // A load of the same size that attacks nobody shows what the machine itself does to the client.
        var share = Math.Round(Math.Min(0.9, results.Max(static one => one.Attacker?.Cpu ?? 0)), 2);
        var control = await PlayAsync(
            Attack.Control(share) with { Name = "control" + share.ToString(CultureInfo.InvariantCulture) }, settings);
        TextTable.Print(
            ["attack", "", "calls", "failed", "p50", "p99", "alone p99", "ratio", "connects p50, max", "sent KB", "CPU", "silo CPU",
                "paused", "RSS +", "allowed", "heap +", "back s", "log lines", "held"],
            results.Append(control).Select(Row));
        foreach (var result in results.Where(static one => one.Missed.Count > 0))
            Console.WriteLine($"{result.Attack} ({result.What}): {string.Join(", ", result.Missed)}");
        if (json is not null)
            ReportFile.WriteJson(json, results.Append(control));
        return results.TrueForAll(static one => one.Missed.Count == 0);
    }

    private static async Task<AttackResult> PlayAsync(Attack attack, AttackSettings settings)
    {
        await using var run = new AttackRun(attack, settings);
        var result = await run.ExecuteAsync();
        Console.WriteLine($"{attack.Name}: {(result.Missed.Count == 0 ? "held" : string.Join(", ", result.Missed))}");
        return result;
    }

    private static IReadOnlyList<string> Row(AttackResult one) =>
    [
        one.Attack, one.Line, Text(one.Beside?.Calls), Text(one.Beside?.Failed), Text(one.Beside?.P50), Text(one.Beside?.P99),
        Text(one.Alone?.P99), Text(one.Ratio), $"{Text(one.Beside?.ConnectP50)}, {Text(one.Beside?.ConnectMax)}",
        Text(one.Attacker?.Bytes / 1024.0), Text(one.Attacker?.Cpu), Text(one.SiloCpu), Text(one.Paused), Text(one.RssPeak - one.RssBefore),
        Text(one.AllowedMemory), Text(one.HeapAfter - one.HeapBefore), Text(one.BackAfter), Text(one.LogLines),
        one.Missed.Count == 0 ? "yes" : "NO",
    ];

    private static string Text(double? value) =>
        value is { } number ? number.ToString(number < 10 ? "0.00" : "0", CultureInfo.InvariantCulture) : "-";

    private static string Text(long? value) => value?.ToString(CultureInfo.InvariantCulture) ?? "-";

    private static Command Hidden(string name, Func<string[], Task<int>> run)
    {
        var arguments = new Argument<string[]>("arguments") { Arity = ArgumentArity.ZeroOrMore };
        var command = new Command(name, "A process of the attacks (started by them).") { arguments };
        command.Hidden = true;
        command.SetAction((parsed, _) => run(parsed.GetValue(arguments)!));
        return command;
    }

    private static int Number(string text) => int.Parse(text, CultureInfo.InvariantCulture);

    private static double Decimal(string text) => double.Parse(text, CultureInfo.InvariantCulture);
}
