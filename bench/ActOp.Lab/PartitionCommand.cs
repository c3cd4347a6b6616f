using System.CommandLine;
using ActOp.Partitioning;
using Spectre.Console;

namespace ActOp.Lab;

/// <summary>partition: a graph from a file, from random placement to no more gain.</summary>
internal static class PartitionCommand
{
    // A round without moves may only mean that the order of silos was unlucky.
    private const int QuietRounds = 3;

    public static Command Create()
    {
        Option<FileInfo> graph = new("--graph") { Description = "Edge list: u v [weight] a line.", Required = true };
        Option<int> parts = new("--parts") { Description = "Silos.", DefaultValueFactory = static _ => 10 };
        Option<FileInfo?> json = new("--json") { Description = "Write the result here." };
        LabOptions common = new(rounds: 60);
        Command command = new("partition", "Partitions a graph by pairwise exchanges and compares with METIS.") { graph, parts, json };
        common.AddTo(command);
        command.SetAction(result =>
        {
            LabGraph read = LabGraph.Read(result.GetValue(graph)!.FullName);
            PartitionReport report = Play(read, result.GetValue(parts), result.GetValue(common.Rounds), common.Read(result), result.GetValue(common.Seed));
            Print(report);
            if (result.GetValue(json) is { } file)
                LabJson.Write(file, report);
            return 0;
        });
        return command;
    }

    private static PartitionReport Play(LabGraph graph, int parts, int rounds, PartitioningOptions options, int seed)
    {
        LabCluster cluster = new(graph.VertexCount, parts, options, seed);
        foreach ((int a, int b, double weight) in graph.Edges)
            cluster.Add(a, b, weight);
        List<RoundReport> played = [new(graph.CutShare(cluster.Place), cluster.MaxImbalance, 0, 0)];
        for (int round = 0, quiet = 0; round < rounds && quiet < QuietRounds; round++)
        {
            (int moves, double seconds) = cluster.PlayRound();
            quiet = moves == 0 ? quiet + 1 : 0;
            played.Add(new(graph.CutShare(cluster.Place), cluster.MaxImbalance, moves, seconds));
        }

        return new(
            parts, seed, options.Tolerance, options.Algorithm.ToString(), options.CandidateCount, played[^1].CutShare,
            played.Max(static r => r.MaxImbalanceShare), played[1..], Metis.CutShare(graph, parts, options.Tolerance));
    }

    private static void Print(PartitionReport report)
    {
        Table table = new Table().AddColumns("round", "cut", "max part / mean - 1", "moves", "seconds");
        for (int i = 0; i < report.Rounds.Count; i++)
        {
            RoundReport round = report.Rounds[i];
            table.AddRow($"{i + 1}", $"{round.CutShare:P2}", $"{round.MaxImbalanceShare:P2}", $"{round.Moves}", $"{round.Seconds:F3}");
        }

        AnsiConsole.Write(table);
        AnsiConsole.MarkupLineInterpolated($"[bold]cut {report.CutShare:P2}[/] with {report.Parts} parts, {report.Algorithm}, k = {report.Candidates}, seed {report.Seed}");
        AnsiConsole.MarkupLineInterpolated($"largest imbalance in any round {report.MaxImbalanceShare:P2} (tolerance {report.Tolerance:P2}: largest part over the mean part, less 1)");
        AnsiConsole.MarkupLine(report.MetisCutShare is { } metis ? $"METIS {metis:P2}" : "METIS is not installed (gpmetis, Debian package metis)");
    }
}
