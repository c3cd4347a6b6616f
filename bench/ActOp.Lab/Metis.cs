using System.Diagnostics;

namespace ActOp.Lab;

/// <summary>The reference: METIS's multilevel partitioner, if its program gpmetis is installed.</summary>
internal static class Metis
{
    /// <summary>The cut METIS reaches, or null if it is not installed or fails.</summary>
    public static double? CutShare(LabGraph graph, int parts, double tolerance)
    {
        string file = Path.Combine(Path.GetTempPath(), $"actop-lab-{Environment.ProcessId}.graph");
        try
        {
            Write(graph, file);
            ProcessStartInfo start = new("gpmetis", [$"-ufactor={Math.Max(1, (int)Math.Round(tolerance * 1000))}", file, $"{parts}"]) { RedirectStandardOutput = true };
            using Process process = Process.Start(start)!;
            process.StandardOutput.ReadToEnd();
            process.WaitForExit();
            string result = $"{file}.part.{parts}";
            if (process.ExitCode != 0 || !File.Exists(result))
                return null;
            int[] place = [.. File.ReadLines(result).Select(int.Parse)];
            File.Delete(result);
            return graph.CutShare(place);
        }
        catch (System.ComponentModel.Win32Exception)
        {
            return null;
        }
        finally
        {
            File.Delete(file);
        }
    }

    private static void Write(LabGraph graph, string file)
    {
        List<int>[] neighbours = [.. Enumerable.Range(0, graph.VertexCount).Select(static _ => new List<int>())];
        foreach ((int a, int b, _) in graph.Edges)
        {
            neighbours[a].Add(b + 1);
            neighbours[b].Add(a + 1);
        }

        File.WriteAllLines(file, neighbours.Select(static n => string.Join(' ', n)).Prepend($"{graph.VertexCount} {graph.Edges.Length}"));
    }
}
