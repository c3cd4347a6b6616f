using System.CommandLine;
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
        LabOptions common = new(rounds: 5);
        Command command = new("synthetic", "Measures exchanges on Halo graphs of growing size, with churn.") { players, silos, churn };
        common.AddTo(command);
        command.SetAction(result =>
        {
            var table = new Table().AddColumns("players", "silos", "vertices a silo", "rounds", "cut from", "cut to", "imbalance", "moves",
                "exchanges", "ms an offer (median)", "ms (95 %)", "ns a vertex", "ns / (nV log2 k + k²)");
            AnsiConsole.Progress().Start(progress =>
            {
                foreach (var count in result.GetValue(players)!)
                {
                    foreach (var n in result.GetValue(silos)!)
                    {
                        table.AddRow(Play(progress, count, n, result.GetValue(churn), result.GetValue(common.Rounds), common.Read(result),
                            result.GetValue(common.Seed)));
                    }
                }
            });
            AnsiConsole.Write(table);
            return 0;
        });
        return command;
    }

    private static string[] Play(
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
        return
        [
            $"{players}", $"{silos}", $"{vertices:F0}", $"{rounds}", $"{first:P1}", $"{CutShare(halo, cluster):P1}",
            $"{cluster.MaxImbalance:P1}", $"{moves}",
            $"{seconds.Length}", $"{median * 1e3:F2}", $"{Quantile(seconds, 0.95) * 1e3:F2}", $"{median * 1e9 / vertices:F0}",
            $"{median * 1e9 / predicted:F2}",
        ];
    }

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
