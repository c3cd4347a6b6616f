using System.CommandLine;
using ActOp.Harness.Reports;
using ActOp.Partitioning;
using Spectre.Console;

namespace ActOp.Lab;

/// <summary>partition: a graph from a file or a generator, from random placement to no more gain.</summary>
internal static class PartitionCommand
{
    // A round without moves may only mean that the order of silos was unlucky, or that offers must become larger.
    private const int QuietRounds = 3;

    public static Command Create()
    {
        GraphOptions graph = new();
        Option<int> parts = new("--parts") { Description = "Silos.", DefaultValueFactory = static _ => 10 };
        Option<string?> seeds =
            new("--seeds")
            {
                Description =
                "Plays every seed of a range, for instance 1-5, and prints a table with the mean. Replaces --seed."
            };
        Option<FileInfo?> json = new("--json") { Description = "Write the result here." };
        LabOptions common = new(rounds: 60);
        Command command = new("partition", "Partitions a graph by pairwise exchanges and compares with METIS.") { parts, seeds, json };
        graph.AddTo(command);
        common.AddTo(command);
        command.SetAction(result =>
        {
            try
            {
                (int First, int Last)? range = result.GetValue(seeds) is { } text ? LabOptions.ParseSeeds(text) : null;
                (var name, var read) = graph.Read(result);
                Check(read, result.GetValue(parts), result.GetValue(common.Rounds));
                var options = common.Read(result);
                var metis = Metis.Run(read, result.GetValue(parts), options.Tolerance);
                PartitionReport PlaySeed(int seed) =>
                    Play(read, result.GetValue(parts), result.GetValue(common.Rounds), options, seed, metis);
                if (range is { } all)
                    Show(Compare(name, read, all, PlaySeed), metis, result.GetValue(json));
                else
                    Show(PlaySeed(result.GetValue(common.Seed)), metis, result.GetValue(json));
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

    private static SeedsReport Compare(string name, LabGraph graph, (int First, int Last) seeds, Func<int, PartitionReport> play)
    {
        List<PartitionReport> runs = [];
        for (long seed = seeds.First; seed <= seeds.Last; seed++)
            runs.Add(play((int)seed));
        return new(name, graph.VertexCount, graph.Edges.Length, runs.Average(static r => r.CutShare),
            runs.Average(static r => r.MetisRatio), runs);
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

    private static PartitionReport Play(LabGraph graph, int parts, int rounds, PartitioningOptions options, int seed, Metis metis)
    {
        LabCluster cluster = new(graph.VertexCount, parts, options, seed);
        foreach ((var a, var b, var weight) in graph.Edges)
            cluster.Add(a, b, weight);
        List<RoundReport> played = [new(graph.CutShare(cluster.Place), cluster.MaxImbalance, 0, 0)];
        var restRounds = QuietRounds + (options.Algorithm == SelectionAlgorithm.LookAhead ? int.Log2(options.CandidateGrowth) : 0);
        for (int round = 0, quiet = 0; round < rounds && quiet < restRounds; round++)
        {
            (var moves, var seconds) = cluster.PlayRound(() => cluster.See(graph));
            quiet = moves == 0 ? quiet + 1 : 0;
            played.Add(new(graph.CutShare(cluster.Place), cluster.MaxImbalance, moves, seconds));
        }

        return new(
            parts, seed, options.Tolerance, options.Algorithm.ToString(), options.CandidateCount, played[^1].CutShare,
            played.Max(static r => r.MaxImbalanceShare), played[1..], metis.CutShare, metis.Problem);
    }

    private static void Show(SeedsReport report, Metis metis, FileInfo? json)
    {
        var table = new Table().AddColumns("seed", "cut", "cut / METIS", "max part / mean - 1", "rounds", "moves", "seconds");
        foreach (var run in report.Runs)
        {
            table.AddRow(
                $"{run.Seed}", $"{run.CutShare:P2}", $"{run.MetisRatio:F3}", $"{run.MaxImbalanceShare:P2}", $"{run.Rounds.Count}",
                $"{run.Rounds.Sum(static r => r.Moves)}", $"{run.Rounds.Sum(static r => r.Seconds):F1}");
        }

        table.AddRow("mean", $"{report.MeanCutShare:P2}", $"{report.MeanMetisRatio:F3}", "", "", "", "");
        AnsiConsole.WriteLine($"{report.Graph}: {report.Vertices} vertices, {report.Edges} edges, {report.Runs[0].Parts} parts, {report.Runs[0].Algorithm}, k = {report.Runs[0].Candidates}");
        AnsiConsole.Write(table);
        ShowReference(metis);
        if (json is not null)
            ReportFile.WriteJson(json.FullName, report);
    }

    private static void Show(PartitionReport report, Metis metis, FileInfo? json)
    {
        var table = new Table().AddColumns("round", "cut", "max part / mean - 1", "moves", "seconds");
        for (var i = 0; i < report.Rounds.Count; i++)
        {
            var round = report.Rounds[i];
            table.AddRow($"{i + 1}", $"{round.CutShare:P2}", $"{round.MaxImbalanceShare:P2}", $"{round.Moves}", $"{round.Seconds:F3}");
        }

        AnsiConsole.Write(table);
        AnsiConsole.MarkupLineInterpolated($"[bold]cut {report.CutShare:P2}[/] with {report.Parts} parts, {report.Algorithm}, k = {report.Candidates}, seed {report.Seed}");
        AnsiConsole.MarkupLineInterpolated($"largest imbalance in any round {report.MaxImbalanceShare:P2} (tolerance {report.Tolerance:P2}: largest part over the mean part, less 1)");
        ShowReference(metis);
        if (json is not null)
            ReportFile.WriteJson(json.FullName, report);
    }

    private static void ShowReference(Metis metis)
    {
        if (metis.CutShare is { } reference)
            AnsiConsole.WriteLine($"METIS {reference:P2}");
        else if (!metis.IsInstalled)
            AnsiConsole.WriteLine("METIS is not installed (gpmetis, Debian package metis)");
    }
}
