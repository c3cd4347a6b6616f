using System.Reflection;

namespace ActOp.House.Tests;

/// <summary>The packages of this build in a folder outside the repository, and projects that use nothing else.</summary>
public sealed class PackageFeed : IAsyncLifetime
{
    private static readonly string Configuration = typeof(PackageFeed).Assembly.GetCustomAttribute<AssemblyConfigurationAttribute>()!
        .Configuration;

    private readonly string _folder = Directory.CreateTempSubdirectory("actop-packages-").FullName;

    // An empty package folder: nothing that another build left there is used.
    private Dictionary<string, string> Variables => new() { ["NUGET_PACKAGES"] = Path.Combine(_folder, "packages") };

    /// <summary>Ids and kinds (nupkg, snupkg) of what was packed.</summary>
    public string[] Packages =>
        [.. Directory.EnumerateFiles(Path.Combine(_folder, "feed")).Select(static file => Path.GetFileName(file).Replace(".9.9.9-house", "",
            StringComparison.Ordinal)).Order(StringComparer.Ordinal)];

    /// <summary>Where a package is.</summary>
    public string PackagePath(string id) => Path.Combine(_folder, "feed", id + ".9.9.9-house.nupkg");

    /// <summary>Where the symbols of a package are.</summary>
    public string SymbolsPath(string id) => Path.Combine(_folder, "feed", id + ".9.9.9-house.snupkg");

    /// <summary>Where a project is.</summary>
    public string FolderOf(string project) => Path.Combine(_folder, project);

    /// <summary>Where the program of a project is after it ran.</summary>
    public string OutputOf(string project) => Path.Combine(_folder, project, "bin", "Debug", "net10.0");

    public async ValueTask InitializeAsync()
    {
        // What is packed is what was just tested: the projects are built, since this one references them all.
        await CommandLine.DotnetAsync(Repository.Root, new Dictionary<string, string>(), "pack", "--no-build", "-c", Configuration, "-o",
            Path.Combine(_folder, "feed"), "-p:Version=9.9.9-house", "-v", "q", "--nologo", "ActOp.sln");
        // One process for each build: a second one takes longer to start than these projects take to build.
        await WriteAsync("Directory.Build.rsp", "-maxCpuCount:1\n");
        // The folder is one more source: whatever the machine uses by default stays.
        await WriteAsync("NuGet.config", """
            <configuration>
              <packageSources>
                <add key="house" value="feed" />
              </packageSources>
            </configuration>
            """);
    }

    /// <summary>Writes a file below the folder of the feed.</summary>
    public async Task WriteAsync(string path, string text)
    {
        var full = Path.Combine(_folder, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        await File.WriteAllTextAsync(full, text, TestContext.Current.CancellationToken);
    }

    /// <summary>Restores, builds and runs a project; returns what it printed.</summary>
    public Task<string> RunAsync(string project, params string[] arguments) =>
        DotnetAsync(["run", "--project", project, "--", .. arguments]);

    /// <summary>Runs the SDK below the folder of the feed; returns what it printed.</summary>
    public Task<string> DotnetAsync(params string[] arguments) => DotnetInAsync("", arguments);

    /// <summary>Runs the SDK in a folder below that of the feed; returns what it printed.</summary>
    public Task<string> DotnetInAsync(string folder, params string[] arguments) =>
        CommandLine.DotnetAsync(Path.Combine(_folder, folder), Variables, arguments);

    /// <summary>Runs the SDK in a folder below that of the feed until it prints a text, then something else, and ends it.</summary>
    public Task DotnetUntilAsync(string folder, string text, Func<Task> meanwhile, params string[] arguments) =>
        CommandLine.DotnetUntilAsync(Path.Combine(_folder, folder), Variables, text, meanwhile, arguments);

    public ValueTask DisposeAsync()
    {
        Directory.Delete(_folder, recursive: true);
        return ValueTask.CompletedTask;
    }
}
