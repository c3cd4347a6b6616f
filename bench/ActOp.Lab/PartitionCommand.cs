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
            try
            {
                LabGraph read = LabGraph.Read(result.GetValue(graph)!.FullName);
                Check(read, result.GetValue(parts), result.GetValue(common.Rounds));
                (PartitionReport report, Metis metis) = Play(read, result.GetValue(parts), result.GetValue(common.Rounds), common.Read(result), result.GetValue(common.Seed));
                Print(report, metis);
                if (result.GetValue(json) is { } file)
                    LabJson.Write(file, report);
                if (metis.Problem is null)
                    return 0;
                result.InvocationConfiguration.Error.WriteLine($"METIS failed: {metis.Problem}");
            }
            catch (Exception exception) when (exception is LabException or ArgumentException)
            {
                result.InvocationConfiguration.Error.WriteLine(exception.Message);
            }

            return 1;
        });
        return command;
    }

    private static void Check(LabGraph graph, int parts, int rounds)
    {
        if (parts < 2)
            throw new LabException($"--parts must be at least 2, but is {parts}.");
        if (parts > graph.VertexCount)
            throw new LabException($"--parts is {parts}, but the graph has {graph.VertexCount} vertices only.");
        if (rounds < 1)
            throw new LabException($"--rounds must be at least 1, but is {rounds}.");
    }

    private static (PartitionReport Report, Metis Metis) Play(LabGraph graph, int parts, int rounds, PartitioningOptions options, int seed)
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

        Metis metis = Metis.Run(graph, parts, options.Tolerance);
        PartitionReport report = new(
            parts, seed, options.Tolerance, options.Algorithm.ToString(), options.CandidateCount, played[^1].CutShare,
            played.Max(static r => r.MaxImbalanceShare), played[1..], metis.CutShare, metis.Problem);
        return (report, metis);
    }

    private static void Print(PartitionReport report, Metis metis)
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
        if (metis.CutShare is { } reference)
            AnsiConsole.WriteLine($"METIS {reference:P2}");
        else if (!metis.IsInstalled)
            AnsiConsole.WriteLine("METIS is not installed (gpmetis, Debian package metis)");
    }
}
