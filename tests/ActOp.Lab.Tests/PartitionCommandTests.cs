using System.CommandLine;
using System.Text.Json;

namespace ActOp.Lab.Tests;

public sealed class PartitionCommandTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("partition");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void Two_cliques_are_cut_where_they_meet()
    {
        var json = Path.Combine(_folder.FullName, "result.json");
        Assert.Equal(0,
            Invoke("# two cliques\n0 1\n1,2\n0\t2 2\n\n3 4\n4 5\n3 5\n2 3 0.5\n", out var errors, "--parts", "2", "--tolerance", "0.4",
                "--json", json));
        Assert.Empty(errors);
        using var report = JsonDocument.Parse(File.ReadAllText(json));
        Assert.Equal(0.5 / 7.5, report.RootElement.GetProperty("cutShare").GetDouble(), 6);
    }

    [Theory]
    [InlineData("", "no edge")]
    [InlineData("# nothing but a comment\n", "no edge")]
    [InlineData("1 1\n2 2\n", "no edge")]
    [InlineData("0 1\n\n2\n", "line 3")]
    [InlineData("0 1\n1 2 heavy\n", "line 2")]
    [InlineData("0 1 0\n", "line 1")]
    [InlineData("0 1 NaN\n", "line 1")]
    [InlineData("0 1 1 1\n", "line 1")]
    [InlineData("0 1\n1 2\n", "--parts is 10, but the graph has 3 vertices")]
    public void A_graph_that_cannot_be_cut_is_refused(string graph, string why)
    {
        Assert.Equal(1, Invoke(graph, out var errors));
        Assert.Contains(why, errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("--parts", "1")]
    [InlineData("--parts", "-3")]
    [InlineData("--rounds", "0")]
    [InlineData("--tolerance", "-1")]
    [InlineData("--candidates", "0")]
    public void A_bad_value_is_refused(string option, string value)
    {
        string[] arguments = option == "--parts" ? [option, value] : ["--parts", "2", option, value];
        Assert.Equal(1, Invoke("0 1\n1 2\n", out var errors, arguments));
        Assert.NotEmpty(errors);
    }

    [Fact]
    public void Every_seed_of_a_range_is_played_and_their_mean_is_told()
    {
        var json = Path.Combine(_folder.FullName, "seeds.json");
        string[] arguments = ["--generate", "communities", "--vertices", "300", "--graph-seed", "2", "--parts", "3", "--seeds", "4-6",
            "--json", json];
        Assert.Equal(0, Play(out var errors, arguments));
        Assert.Empty(errors);
        using var report = JsonDocument.Parse(File.ReadAllText(json));
        var runs = report.RootElement.GetProperty("runs").EnumerateArray().ToArray();
        Assert.Equal([4, 5, 6], runs.Select(run => run.GetProperty("seed").GetInt32()));
        var mean = runs.Average(run => run.GetProperty("cutShare").GetDouble());
        Assert.Equal(mean, report.RootElement.GetProperty("meanCutShare").GetDouble(), 9);
        Assert.Equal(300, report.RootElement.GetProperty("vertices").GetInt32());
    }

    [Theory]
    [InlineData("--seeds", "5-1")]
    [InlineData("--seeds", "one")]
    [InlineData("--seeds", "1-2-3")]
    public void A_range_that_is_none_is_refused(string option, string value)
    {
        Assert.Equal(1, Play(out var errors, "--generate", "powerlaw", "--vertices", "100", option, value));
        Assert.Contains("1-5", errors, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData]
    [InlineData("--graph", "some.txt", "--generate", "powerlaw")]
    public void One_graph_must_be_named(params string[] arguments)
    {
        Assert.Equal(1, Play(out var errors, arguments));
        Assert.Contains("--generate", errors, StringComparison.Ordinal);
    }

    [Fact]
    public void A_graph_that_cannot_be_read_is_refused_by_its_path()
    {
        Assert.Equal(1, Run(Path.Combine(_folder.FullName, "nowhere.txt"), out var errors));
        Assert.Contains("nowhere.txt", errors, StringComparison.Ordinal);
        Assert.Equal(1, Run(_folder.FullName, out errors));
        Assert.Contains(_folder.FullName, errors, StringComparison.Ordinal);
    }

    [Fact]
    public void Metis_that_is_missing_is_not_metis_that_fails()
    {
        var missing = Metis.Run(Line, 2, 0.03, "no-such-program-gpmetis");
        Assert.False(missing.IsInstalled);
        Assert.Null(missing.Problem);
        var failing = Metis.Run(Line, 2, 0.03, Script("echo 'not enough memory' >&2; exit 3"));
        Assert.True(failing.IsInstalled);
        Assert.Null(failing.CutShare);
        Assert.Contains("exit code 3", failing.Problem, StringComparison.Ordinal);
        Assert.Contains("not enough memory", failing.Problem, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("exit 0", "no partition")]
    [InlineData("printf '0\\n' > \"$2.part.$3\"", "1 vertices")]
    [InlineData("printf '0\\nx\\n1\\n1\\n' > \"$2.part.$3\"", "\"x\"")]
    public void A_partition_of_metis_that_is_none_is_told(string program, string why) =>
        Assert.Contains(why, Metis.Run(Line, 2, 0.03, Script(program)).Problem, StringComparison.Ordinal);

    [Fact]
    public void The_cut_of_metis_is_counted_on_the_same_graph() =>
        Assert.Equal(1.0 / 3, Metis.Run(Line, 2, 0.03, Script("printf '0\\n0\\n1\\n1\\n' > \"$2.part.$3\"")).CutShare!.Value, 6);

    /// <summary>Two tight groups, each member tied to one of the other group: by weight it is the pairs that belong together.</summary>
    [Theory]
    [InlineData(1, 100)]
    [InlineData(0.25, 25)]
    [InlineData(2e8, 2e10)]
    public void Metis_is_told_the_weights(double within, double across)
    {
        const int Size = 4;
        var edges = new List<(int, int, double)>();
        for (var one = 0; one < Size; one++)
        {
            edges.Add((one, one + Size, across));
            for (var other = one + 1; other < Size; other++)
                edges.AddRange([(one, other, within), (one + Size, other + Size, within)]);
        }

        var metis = Metis.Run(new LabGraph(2 * Size, edges), 2, 0.03);
        Assert.SkipUnless(metis.IsInstalled, "gpmetis is not installed.");
        Assert.Null(metis.Problem);
        Assert.InRange(metis.CutShare!.Value, 0, 0.05);
    }

    [Theory]
    [InlineData(1, 1, "4 3|2|1 3|2 4|3")]
    [InlineData(3, 3, "4 3|2|1 3|2 4|3")]
    [InlineData(1, 7, "4 3 001|2 1|1 1 3 7|2 7 4 1|3 1")]
    [InlineData(0.5, 1.25, "4 3 001|2 1000|1 1000 3 2500|2 2500 4 1000|3 1000")]
    public void The_graph_for_metis_has_weights_if_they_differ(double ends, double middle, string expected)
    {
        var copy = Path.Combine(_folder.FullName, "copy");
        Metis.Run(new LabGraph(4, [(0, 1, ends), (1, 2, middle), (2, 3, ends)]), 2, 0.03, Script($"cp \"$2\" {copy}"));
        Assert.Equal(expected.Split('|'), File.ReadAllLines(copy));
    }

    private static LabGraph Line => new(4, [(0, 1, 1), (1, 2, 1), (2, 3, 1)]);

    private string Script(string text)
    {
        var path = Path.Combine(_folder.FullName, $"metis-{Guid.NewGuid():N}");
        File.WriteAllText(path, "#!/bin/sh\n" + text + "\n");
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        return path;
    }

    private int Invoke(string graph, out string errors, params string[] arguments)
    {
        var path = Path.Combine(_folder.FullName, "graph.txt");
        File.WriteAllText(path, graph);
        return Run(path, out errors, arguments);
    }

    private static int Run(string path, out string errors, params string[] arguments) => Play(out errors, ["--graph", path, .. arguments]);

    private static int Play(out string errors, params string[] arguments)
    {
        using StringWriter output = new(), error = new();
        var code = PartitionCommand.Create().Parse(arguments).Invoke(new InvocationConfiguration { Output = output, Error = error });
        errors = error.ToString();
        return code;
    }
}
