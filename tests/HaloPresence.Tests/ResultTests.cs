using System.Text.Json;
using System.Xml.Linq;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using HaloPresence.Bench;
using HaloPresence.Bench.Load;
using HaloPresence.Bench.Results;
using HaloPresence.Bench.Silos;

namespace HaloPresence.Tests;

public sealed class ResultTests
{
    private static readonly HaloOptions Options = new() { Silos = 2, Players = 400, Rate = 500, Warmup = 20, Measure = 60 };

    [Fact]
    public void The_remote_share_is_that_of_the_measured_phase()
    {
        var result = Assemble(Options);
        Assert.Equal(0.25, result.RemoteShare, 3);
        Assert.Equal(0.5, result.CheckedRemoteShare, 3);
        Assert.All(result.CpuPercentPerSilo, cpu => Assert.Equal(40, cpu, 1));
        Assert.Equal(2 * 0.4 * 60 * 1e6 / result.Requests, result.CpuMicrosPerRequest, 0);
        Assert.Equal(18, result.MessagesPerRequest, 6);
        Assert.InRange(result.AchievedRate, 485, 515);
        Assert.InRange(result.Convergence.Length, 78, 81);
        // Everything is remote in the warm-up.
        Assert.Equal(1, result.Convergence[5].RemoteShare, 3);
    }

    [Fact]
    public void The_JSON_has_the_agreed_names()
    {
        using var json = JsonDocument.Parse(JsonSerializer.Serialize(Assemble(Options), JsonLines.File));
        string[] names = [.. json.RootElement.EnumerateObject().Select(property => property.Name)];
        string[] agreed =
        [
            "optimize", "silos", "players", "rate", "churnPerMinute", "remoteShare", "latencyMs", "requests", "errors", "achievedRate",
            "cpuPercentPerSilo", "cpuMicrosPerRequest", "migrations", "convergence", "activationsPerSilo", "saturation",
        ];
        Assert.Empty(agreed.Except(names));
        Assert.Equal(["p50", "p95", "p99", "p999", "max"], json.RootElement.GetProperty("latencyMs").EnumerateObject()
            .Select(property => property.Name));
        Assert.Contains("moves", json.RootElement.GetProperty("convergence")[0].EnumerateObject().Select(property => property.Name));
        Assert.Equal("off", json.RootElement.GetProperty("optimize").GetString());
    }

    [Fact]
    public void The_report_has_four_charts_and_needs_nothing_from_outside()
    {
        var off = Assemble(Options);
        var html = HtmlReport.Render([off, Assemble(Options with { Optimize = OptimizeMode.Partition })]);
        foreach (var title in (string[])["Remote share over time", "Latency: cumulative distribution", "Silo CPU", "Moves"])
            Assert.Contains($"<figcaption>{title}", html, StringComparison.Ordinal);
        Assert.Equal(4, html.Split("<svg").Length - 1);
        Assert.Equal(8, html.Split("<polyline").Length - 1);
        Assert.DoesNotContain("http", html, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("<script", html, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("NaN", html, StringComparison.Ordinal);
        foreach (var svg in html.Split("<figure>").Skip(1)
            .Select(part => part[part.IndexOf("<svg", StringComparison.Ordinal)..(part.IndexOf("</svg>", StringComparison.Ordinal) + 6)]))
        {
            Assert.NotNull(XElement.Parse(svg));
        }
    }

    [Fact]
    public void A_comparison_stands_beside_the_papers_figures()
    {
        RunResult[] runs =
            [Assemble(Options), Assemble(Options with { Optimize = OptimizeMode.Partition }),
                Assemble(Options with { Optimize = OptimizeMode.All })];
        var titles = Comparison.Titles(runs);
        Assert.Equal(["", "random placement", "locality", "locality + threads", "ratio", "paper"], titles);
        Assert.All(Comparison.Rows(runs), row => Assert.Equal(titles.Length, row.Length));
    }

    [Fact]
    public void Lines_between_processes_survive_the_way()
    {
        var writer = new StringWriter();
        var sent = new SiloSample { T = 12.5, RemoteMessages = 7, CpuSeconds = 0.25, ActorCalls = [3, 0, 1] };
        JsonLines.Write(writer, sent);
        Assert.True(JsonLines.TryRead(writer.ToString().TrimEnd(), out SiloSample? sample));
        Assert.Equivalent(sent, sample, strict: true);
        Assert.False(JsonLines.TryRead("warn: something", out sample));
        Assert.False(JsonLines.TryRead("{ broken", out sample));
    }

    [Theory]
    [InlineData("--silos")]
    [InlineData("--churn")]
    [InlineData("--pool")]
    [InlineData("--min-games")]
    public void A_wrong_option_is_named(string name)
    {
        var wrong = name switch
        {
            "--silos" => Options with { Silos = 0 },
            "--churn" => Options with { Churn = double.NaN },
            "--pool" => Options with { Pool = 400 },
            _ => Options with { MinGames = 6 },
        };
        Assert.Null(Options.FindError());
        Assert.Contains(name, wrong.FindError(), StringComparison.Ordinal);
    }

    [Fact]
    public void A_child_reads_the_options_that_its_parent_printed()
    {
        var options = Options with { Churn = 12.5, Optimize = OptimizeMode.Partition, Rehearse = true, Measure = 0, Saturate = 3 };
        var table = new HaloOptionTable(new HaloOptions());
        var root = new System.CommandLine.RootCommand();
        table.AddTo(root);
        Assert.Equal(options, table.Read(root.Parse([.. table.Print(options)])));
    }

    [Theory]
    [InlineData(OptimizeMode.Off, false, false)]
    [InlineData(OptimizeMode.Partition, true, false)]
    [InlineData(OptimizeMode.Threads, false, true)]
    [InlineData(OptimizeMode.All, true, true)]
    public void A_mode_says_what_is_optimised(OptimizeMode mode, bool moves, bool sizes)
    {
        var options = Options with { Optimize = mode };
        Assert.Equal((moves, sizes), (options.MovesGrains, options.SizesStages));
    }

    private static RunResult Assemble(HaloOptions options)
    {
        var timeline = new RunTimeline(options.Silos);
        var load = new LoadClient(options, new RehearsalTarget(), new VirtualClock(), _ => { }).Run(default);
        timeline.Add(load);
        var measure = load.PhaseStarts[(int)LoadPhase.Measure];
        for (var second = 0; second <= 85; second++)
        {
            var measured = Math.Max(0, second - measure);
            var sample = new SiloSample
            {
                T = second,
                RemoteMessages = (long)(1000 * Math.Min(second, measure) + 250 * measured),
                LocalMessages = (long)(750 * measured),
                CheckedRemote = 10 * second,
                CheckedLocal = 10 * second,
                CpuSeconds = 0.4 * second,
                Activations = 200,
                Moves = second,
            };
            for (var silo = 0; silo < options.Silos; silo++)
                timeline.Add(silo, sample);
        }
        return ResultAssembly.Assemble(options, timeline);
    }
}
