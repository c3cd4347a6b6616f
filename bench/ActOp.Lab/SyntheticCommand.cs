using System.CommandLine;
using ActOp.Harness.Reports;
using ActOp.Partitioning;
using Spectre.Console;

namespace ActOp.Lab;

/// <summary>synthetic: Halo graphs with churn, the time of an exchange against its predicted growth.</summary>
internal static class SyntheticCommand
{
    public static Command Create()
    {
        Option<int[]> players =
            new("--players")
            {
                Description = "Numbers of players.",
                DefaultValueFactory = static _ => [10_000, 100_000, 1_000_000],
                AllowMultipleArgumentsPerToken = true
            };
        Option<int[]> silos =
            new("--silos")
            {
                Description = "Numbers of silos.",
                DefaultValueFactory = static _ => [10, 100],
                AllowMultipleArgumentsPerToken = true
            };
        Option<double> churn =
            new("--churn") { Description = "Share of games that regroup in a round.", DefaultValueFactory = static _ => 0.01 };
        Option<FileInfo?> json = new("--json") { Description = "Write the results here." };
        LabOptions common = new(rounds: 5);
        Command command =
            new("synthetic", "Measures exchanges on Halo graphs of growing size, with churn.") { players, silos, churn, json };
        common.AddTo(command);
        command.SetAction(result =>
        {
            var table = new Table().AddColumns("players", "silos", "vertices a silo", "rounds", "cut from", "cut to", "imbalance", "moves",
                "exchanges", "ms an offer (median)", "ms (95 %)", "ns a vertex", "ns / (nV log2 k + k²)");
            List<SyntheticReport> reports = [];
            AnsiConsole.Progress().Start(progress =>
            {
                foreach (var count in result.GetValue(players)!)
                {
                    foreach (var n in result.GetValue(silos)!)
                    {
                        var report = Play(progress, count, n, result.GetValue(churn), result.GetValue(common.Rounds), common.Read(result),
                            result.GetValue(common.Seed));
                        reports.Add(report);
                        table.AddRow(Cells(report));
                    }
                }
            });
            AnsiConsole.Write(table);
            if (result.GetValue(json) is { } file)
                ReportFile.WriteJson(file.FullName, reports);
            return 0;
        });
        return command;
    }

    private static SyntheticReport Play(
        ProgressContext progress, int players, int silos, double churn, int rounds, PartitioningOptions options, int seed)
    {
        var task = progress.AddTask($"{players} players, {silos} silos", maxValue: (double)rounds * silos);
        HaloGraph halo = new(players, seed);
        LabCluster cluster = new(halo.VertexCount, silos, options with { EdgeCapacity = Math.Max(1000, 4 * players / silos) }, seed);
        Count(halo, cluster);
        var first = CutShare(halo, cluster);
        var moves = 0;
        for (var round = 0; round < rounds; round++)
        {
            moves += cluster.PlayRound(() => task.Increment(1)).Moves;
            halo.Churn(churn);
            cluster.Decay(0.5);
            Count(halo, cluster);
        }

        task.Value = task.MaxValue;
        double[] seconds = [.. cluster.Timings.Select(static t => t.Seconds / t.Offers).Order()];
        var median = Quantile(seconds, 0.5);
        var vertices = (double)halo.VertexCount / silos;
        double k = options.CandidateCount;
        var predicted = (silos * vertices * Math.Log2(k)) + (k * k);
        return new(players, silos, vertices, rounds, first, CutShare(halo, cluster), cluster.MaxImbalance, moves, seconds.Length,
            median * 1e3, Quantile(seconds, 0.95) * 1e3, median * 1e9 / vertices, median * 1e9 / predicted);
    }

    private static string[] Cells(SyntheticReport report) =>
    [
        $"{report.Players}", $"{report.Silos}", $"{report.VerticesPerSilo:F0}", $"{report.Rounds}", $"{report.CutFrom:P1}",
        $"{report.CutTo:P1}", $"{report.Imbalance:P1}", $"{report.Moves}", $"{report.Exchanges}", $"{report.OfferMs:F2}",
        $"{report.OfferMs95:F2}", $"{report.NanosecondsPerVertex:F0}", $"{report.NanosecondsPerStep:F2}",
    ];

    private static void Count(HaloGraph halo, LabCluster cluster)
    {
        foreach ((var player, var game) in halo.Edges())
            cluster.Add(player, game, 1);
    }

    private static double CutShare(HaloGraph halo, LabCluster cluster)
    {
        int cut = 0, all = 0;
        foreach ((var player, var game) in halo.Edges())
        {
            all++;
            cut += cluster.Place[player] != cluster.Place[game] ? 1 : 0;
        }

        return (double)cut / all;
    }

    private static double Quantile(double[] sorted, double share) => sorted.Length == 0 ? 0 : sorted[(int)(share * (sorted.Length - 1))];
}

/// <summary>
/// A row of the synthetic command. Offers are timed, median and 95 %; a step is one of the nV log2 k + k² that Algorithm 1 takes.
/// </summary>
internal sealed record SyntheticReport(
    int Players, int Silos, double VerticesPerSilo, int Rounds, double CutFrom, double CutTo, double Imbalance, int Moves, int Exchanges,
    double OfferMs, double OfferMs95, double NanosecondsPerVertex, double NanosecondsPerStep);
