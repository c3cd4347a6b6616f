using System.Diagnostics;

namespace ActOp.Lab;

/// <summary>The reference: METIS's multilevel partitioner, if its program gpmetis is installed.</summary>
/// <param name="CutShare">The cut that METIS reaches; null without one.</param>
/// <param name="IsInstalled">False when there is no such program: then the lab compares with nothing.</param>
/// <param name="Problem">Why METIS, which is installed, gave no answer; null when it did.</param>
internal sealed record Metis(double? CutShare, bool IsInstalled, string? Problem)
{
    private const string Program = "gpmetis";

    /// <summary>The field of the header that says that each neighbour is followed by the weight of its edge.</summary>
    private const string WithEdgeWeights = " 001";

    private const double MostWeight = 1e9;

    /// <summary>What the smallest weight counts, where weights are no whole numbers.</summary>
    private const double Steps = 1_000;

    // ENOENT, and ERROR_FILE_NOT_FOUND on Windows.
    private const int NotFound = 2;

    public static Metis Run(LabGraph graph, int parts, double tolerance, string program = Program)
    {
        var file = Path.Combine(Path.GetTempPath(), $"actop-lab-{Guid.NewGuid():N}.graph");
        var result = $"{file}.part.{parts}";
        try
        {
            Write(graph, file);
            ProcessStartInfo start =
                new(program, [$"-ufactor={Math.Max(1, (int)Math.Round(tolerance * 1000))}", file, $"{parts}"])
                {
                    RedirectStandardOutput =
                    true,
                    RedirectStandardError = true
                };
            using var process = Process.Start(start)!;
            var errors = process.StandardError.ReadToEndAsync();
            var output = process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            var said = errors.Result.Trim() is { Length: > 0 } text ? text : output.Trim();
            if (process.ExitCode != 0)
                return Failed($"it ended with the exit code {process.ExitCode}: {said}");
            if (!File.Exists(result))
                return Failed($"it wrote no partition: {said}");
            return Read(graph, File.ReadAllLines(result));
        }
        catch (System.ComponentModel.Win32Exception exception) when (exception.NativeErrorCode == NotFound)
        {
            return new(null, IsInstalled: false, null);
        }
        catch (System.ComponentModel.Win32Exception exception)
        {
            return Failed(exception.Message);
        }
        finally
        {
            File.Delete(file);
            File.Delete(result);
        }
    }

    private static Metis Read(LabGraph graph, string[] lines)
    {
        var place = new int[graph.VertexCount];
        if (lines.Length != place.Length)
            return Failed($"its partition has {lines.Length} vertices, the graph {place.Length}");
        for (var i = 0; i < place.Length; i++)
        {
            if (!int.TryParse(lines[i], out place[i]))
                return Failed($"its partition says \"{lines[i]}\" where a part's number is expected");
        }

        return new(graph.CutShare(place), IsInstalled: true, null);
    }

    private static Metis Failed(string why) => new(null, IsInstalled: true, why);

    private static void Write(LabGraph graph, string file)
    {
        var weighted = graph.Edges.Any(e => e.Weight != graph.Edges[0].Weight);
        var scale = weighted ? Scale(graph) : 1;
        List<int>[] neighbours = [.. Enumerable.Range(0, graph.VertexCount).Select(static _ => new List<int>())];
        foreach ((var a, var b, var weight) in graph.Edges)
        {
            Add(a, b, weight);
            Add(b, a, weight);
        }

        var header = $"{graph.VertexCount} {graph.Edges.Length}{(weighted ? WithEdgeWeights : "")}";
        File.WriteAllLines(file, neighbours.Select(static n => string.Join(' ', n)).Prepend(header));

        void Add(int from, int to, double weight)
        {
            neighbours[from].Add(to + 1);
            if (weighted)
                neighbours[from].Add(Math.Max(1, (int)Math.Round(weight * scale)));
        }
    }

    /// <summary>METIS takes whole numbers above 0 and adds them up, both directions, in 32 bits.</summary>
    private static double Scale(LabGraph graph)
    {
        var most = MostWeight / (2 * graph.TotalWeight);
        var wanted = graph.Edges.All(static e => double.IsInteger(e.Weight)) ? 1 : Steps / graph.Edges.Min(static e => e.Weight);
        return Math.Min(wanted, most);
    }
}
