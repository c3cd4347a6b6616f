using System.Globalization;
using System.Text.Json;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;

namespace ActOp.Experiments.Running;

/// <summary>A program of this repository that measures something and writes it as JSON.</summary>
/// <param name="Folder">The folder of its project.</param>
internal sealed record BenchProgram(string Folder)
{
    internal static readonly BenchProgram Halo = new("samples/HaloPresence");
    internal static readonly BenchProgram Heartbeat = new("samples/Heartbeat");
    internal static readonly BenchProgram Lab = new("bench/ActOp.Lab");
    internal static readonly BenchProgram Bench = new("bench/ActOp.Bench");

    /// <summary>The assembly, built as this program was.</summary>
    internal string Assembly
    {
        get
        {
            var built = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
            return Path.Combine(RepositoryFolder.Find(), Folder, "bin", built.Parent!.Name, built.Name, Path.GetFileName(Folder) + ".dll");
        }
    }
}

/// <summary>
/// One run of an experiment: how long it may be, and the programs that it runs. They run one after the other, so that none disturbs another.
/// </summary>
/// <param name="scale">The length as a multiple of the full one.</param>
/// <param name="say">Takes what is going on.</param>
/// <param name="cancellation">Ends the program that runs.</param>
internal sealed class Play(double scale, Action<string> say, CancellationToken cancellation)
{
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(60);
    private readonly MonotonicClock _clock = new();
    private readonly List<string> _programs = [];

    /// <summary>The commands that have run.</summary>
    internal IReadOnlyList<string> Programs => _programs;

    /// <summary>How many rounds fit: <paramref name="full"/> at full length, more or fewer with more or less time.</summary>
    internal int Rounds(int full, int least = 1) => Math.Max(least, (int)Math.Round(full * scale));

    /// <summary>Seconds of a phase: no longer than at full length, and not too short to say anything.</summary>
    internal double Seconds(double full, double least) => Math.Round(Math.Max(least, full * Math.Min(1, scale)), 2);

    /// <summary>Whether there is time for all that the experiment can do, not only for a part that shows its shape.</summary>
    internal bool IsFull => scale >= 0.4;

    /// <summary>Whether there is time only to see that everything works.</summary>
    internal bool IsTrial => scale < 0.1;

    /// <summary>Options of Halo Presence: few silos in a trial, most of whose time is the start of processes.</summary>
    internal string[] Silos => IsTrial ? ["--silos", "2"] : [];

    /// <summary>Runs a program that writes its results with <c>--json</c>, and reads them.</summary>
    /// <exception cref="InvalidOperationException">It failed, was not built or wrote nothing; the message has what it said last.</exception>
    internal async Task<JsonElement> RunAsync(BenchProgram program, params string[] arguments)
    {
        if (!File.Exists(program.Assembly))
            throw new InvalidOperationException($"{program.Assembly} is not built.");
        var folder = Directory.CreateTempSubdirectory("actop-experiment-");
        try
        {
            var file = Path.Combine(folder.FullName, "result.json");
            await RunAsync(program, arguments, [.. arguments, "--json", file], folder.FullName);
            if (!File.Exists(file))
                throw new InvalidOperationException($"{program.Folder} {string.Join(' ', arguments)} wrote no results.");
            using var read = JsonDocument.Parse(await File.ReadAllTextAsync(file, cancellation));
            return read.RootElement.Clone();
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private async Task RunAsync(BenchProgram program, string[] shown, string[] arguments, string folder)
    {
        var command = $"{program.Folder} {string.Join(' ', shown)}";
        say(command);
        _programs.Add(command);
        var begin = _clock.Now;
        // What a program writes by itself goes where it does no harm.
        await using var child = ChildProcess.StartCommand(
            program.Folder, [.. ChildProcess.CommandOf(program.Assembly), .. arguments], static _ => false, folder);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        limit.CancelAfter(Longest);
        try
        {
            var code = await child.WaitForExitAsync(limit.Token);
            if (code != 0)
            {
                throw new InvalidOperationException(string.Create(CultureInfo.InvariantCulture,
                    $"{command} ended with {code} after {(_clock.Now - begin).TotalSeconds:0} s: {child.Tail}"));
            }
        }
        catch (OperationCanceledException)
        {
            // Its own children end when their parent does.
            child.Kill();
            cancellation.ThrowIfCancellationRequested();
            throw new InvalidOperationException($"{command} had no end after {Longest.TotalMinutes} minutes.");
        }
    }
}

/// <summary>Reads numbers out of results.</summary>
internal static class JsonNumbers
{
    /// <summary>The number at a path of names with dots.</summary>
    /// <exception cref="InvalidOperationException">There is none.</exception>
    internal static double Number(this JsonElement from, string path)
    {
        var at = from;
        foreach (var name in path.Split('.'))
        {
            if (at.ValueKind != JsonValueKind.Object || !at.TryGetProperty(name, out at))
                throw new InvalidOperationException($"The results have no '{path}'.");
        }

        return at.ValueKind == JsonValueKind.Number ? at.GetDouble()
            : throw new InvalidOperationException($"'{path}' is {at}, not a number.");
    }

    /// <summary>The rounds of a row of the benchmarks: the least, the median and the most, or the only one.</summary>
    internal static double[] Rounds(this JsonElement row)
    {
        double[] rounds = [row.Number("value.min"), row.Number("value.median"), row.Number("value.max")];
        return rounds[0] == rounds[2] ? rounds[..1] : rounds;
    }

    /// <summary>The elements of a list.</summary>
    internal static IEnumerable<JsonElement> List(this JsonElement from, string name) => from.GetProperty(name).EnumerateArray();

    /// <summary>A text.</summary>
    internal static string Text(this JsonElement from, string name) => from.GetProperty(name).GetString()!;
}
