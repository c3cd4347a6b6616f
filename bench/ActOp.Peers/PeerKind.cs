using ActOp.Harness.Processes;
using ActOp.Peers.Shapes;

namespace ActOp.Peers;

/// <summary>A runtime that can be measured: a program of its own, because ActOp and Orleans have types of the same names.</summary>
/// <param name="Name">As the command line has it.</param>
/// <param name="Project">The project of its program, in <c>bench</c>.</param>
/// <param name="IsVariant">Whether it is another one with an addition: only shapes in which something moves are of interest.</param>
/// <param name="Only">The only shape that is of interest; null for all.</param>
internal sealed record PeerKind(string Name, string Project, bool IsVariant = false, string? Only = null)
{
    internal const string Ours = "actop";
    internal const string Baseline = "orleans";
    internal const string Floor = "floor";

    private static readonly TimeSpan BuildLimit = TimeSpan.FromMinutes(5);

    internal static IReadOnlyList<PeerKind> All { get; } =
    [
        new(Ours, "ActOp.Peers.OnActOp"),
        new(Baseline, "ActOp.Peers.OnOrleans"),
        new("orleans-repartitioner", "ActOp.Peers.OnOrleans", true),
        new("orleans-actop", "ActOp.Peers.OnOrleans", true),
        new("orleans-threads", "ActOp.Peers.OnOrleans", true, "blocking"),
        new("akka", "ActOp.Peers.OnAkka"),
        new("proto", "ActOp.Peers.OnProto"),
    ];

    /// <summary>Whether it is to play a shape.</summary>
    internal bool Plays(Shape shape) => (!IsVariant || shape.Moves) && (Only is null || Only == shape.Name);

    /// <summary>The assembly of the program, once it is built.</summary>
    internal string Assembly => Path.Combine(Folder, "bin", "Release", "net10.0", Project + ".dll");

    private string Folder => Path.Combine(Repository, "bench", Project);

    private static string Repository { get; } = RepositoryFolder.Find();

    /// <summary>Builds the programs; what does not restore or build is not available.</summary>
    /// <returns>Those that are there.</returns>
    internal static async Task<IReadOnlyList<PeerKind>> BuildAsync(IEnumerable<PeerKind> kinds)
    {
        var there = new List<PeerKind>();
        foreach (var project in kinds.GroupBy(static kind => kind.Project))
        {
            Console.WriteLine("Building " + project.Key + " ...");
            if (await BuildAsync(project.First().Folder) is { } failure)
                Console.WriteLine(string.Join(", ", project.Select(static kind => kind.Name)) + ": not available: " + failure);
            else
                there.AddRange(project);
        }

        return there;
    }

    /// <summary>Those whose programs are built already.</summary>
    internal static IReadOnlyList<PeerKind> FindBuilt(IEnumerable<PeerKind> kinds)
    {
        var built = kinds.Where(static kind => File.Exists(kind.Assembly)).ToList();
        foreach (var kind in kinds.Except(built))
            Console.WriteLine(kind.Name + ": not available: it is not built");
        return built;
    }

    /// <summary>Null, or the first error of the build.</summary>
    private static async Task<string?> BuildAsync(string folder)
    {
        var said = new Transcript();
        await using var build = ChildProcess.StartCommand(
            "build", ["dotnet", "build", "-c", "Release", "-v", "q", "-nologo", folder], said.Take);
        using var limit = new CancellationTokenSource(BuildLimit);
        try
        {
            return await build.WaitForExitAsync(limit.Token) == 0 ? null
                : said.Text.Split(Environment.NewLine).FirstOrDefault(static line => line.Contains("error", StringComparison.Ordinal))?.Trim()
                    ?? "it does not build";
        }
        catch (OperationCanceledException)
        {
            return "the build took more than " + BuildLimit.TotalMinutes + " minutes";
        }
    }
}
