using System.Text.Json;
using ActOp.Experiments.Papers;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Lab.Tests.Experiments;

public sealed class ExperimentTests : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("experiments");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void Each_experiment_has_a_name_of_its_own_and_is_found_by_it()
    {
        Assert.Equal(Catalog.All.Count, Catalog.All.Select(static one => one.Name).Distinct().Count());
        Assert.All(Catalog.All, static one => Assert.Same(one, Catalog.Find(one.Name)));
        Assert.Null(Catalog.Find("actop/nothing"));
    }

    [Fact]
    public void Every_paper_is_in_the_list_and_a_figure_without_an_experiment_says_why()
    {
        var lines = Catalog.Lines(new Dictionary<string, ExperimentResult>()).ToList();
        Assert.Equal(["000", "001", "002", "003", "004"], lines.Select(static line => line[0][..3]).Distinct());
        Assert.All(OtherPapers.Open, static open => Assert.NotEmpty(open.Why));
        Assert.All(lines, static line => Assert.NotEmpty(line[^1]));
    }

    [Fact]
    public void Every_claim_of_the_review_names_an_experiment()
    {
        var none = new Dictionary<string, ExperimentResult>();
        Assert.All(Review.Lines(none), static line => Assert.NotNull(Catalog.Find(line[1])));
    }

    [Theory]
    [InlineData(new double[] { 0.9, 1.0, 3.0 }, true)]
    [InlineData(new double[] { 0.9, 1.1, 1.2 }, false)]
    public void A_bar_is_judged_by_the_median(double[] rounds, bool holds)
    {
        Assert.Equal(holds, Measure.AtMost(1, "ratio", "", rounds).Holds);
        Assert.Equal(holds, Measure.AtLeast(-1, "ratio", "", [.. rounds.Select(static value => -value)]).Holds);
    }

    [Fact]
    public void A_setting_is_worse_only_if_it_is_so_in_all_rounds()
    {
        Assert.True(Measure.NotWorse("ratio", [0.99, 1.2, 1.3]).Holds);
        Assert.False(Measure.NotWorse("ratio", [1.01, 1.2, 1.3]).Holds);
    }

    [Fact]
    public void A_ratio_with_rounds_on_both_sides_of_one_is_within_noise()
    {
        Assert.EndsWith("within noise", Measure.Of("ratio", "", [0.9, 1.2]).Range, StringComparison.Ordinal);
        Assert.DoesNotContain("noise", Measure.Of("ratio", "", [1.1, 1.2]).Range, StringComparison.Ordinal);
        Assert.DoesNotContain("noise", Measure.Of("time", "ms", [0.9, 1.2]).Range, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(double.NaN)]
    [InlineData(double.PositiveInfinity)]
    public void What_is_no_number_is_no_measure(double value) =>
        Assert.Throws<InvalidOperationException>(() => Measure.AtMost(1, "ratio", "", [0.5, value]));

    [Fact]
    public void A_missing_number_is_named()
    {
        using var json = JsonDocument.Parse("{\"latencyMs\":{\"p50\":1.5}}");
        Assert.Equal(1.5, json.RootElement.Number("latencyMs.p50"));
        Assert.Contains("latencyMs.p99",
            Assert.Throws<InvalidOperationException>(() => json.RootElement.Number("latencyMs.p99")).Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_experiment_that_fails_is_a_result_and_the_others_go_on()
    {
        var results = await RunAsync(
            resumes: false, Fake("a/fails", static _ => throw new InvalidOperationException("no silo")), Fake("a/holds", Holds));
        Assert.Equal(["failed: no silo", "holds"], results.Select(static result => result.Verdict));
        Assert.True(results[0].Misses);
        Assert.False(results[1].Misses);
    }

    [Fact]
    public async Task A_program_that_is_not_built_is_named()
    {
        var results = await RunAsync(resumes: false, Fake("a/missing", static async play =>
        {
            await play.RunAsync(new BenchProgram("bench/Nothing"));
            return new Outcome([], []);
        }));
        Assert.Matches("failed: .*Nothing.dll is not built", results[0].Verdict);
    }

    [Fact]
    public async Task An_interrupted_run_has_what_was_measured_and_resumes_after_it()
    {
        using var source = new CancellationTokenSource();
        var plays = 0;
        var first = Fake("a/first", play =>
        {
            plays++;
            return Holds(play);
        });
        var second = Fake("a/second", _ =>
        {
            source.Cancel();
            throw new OperationCanceledException(source.Token);
        });
        var results = await new ExperimentRun(new RunSettings([first, second], null, _folder.FullName, false)).RunAsync(source.Token);
        Assert.Equal(["a/first"], results.Select(static result => result.Name));
        results = await RunAsync(resumes: true, first, Fake("a/second", Holds));
        Assert.Equal(["holds", "holds"], results.Select(static result => result.Verdict));
        Assert.Equal(1, plays);
    }

    [Fact]
    public async Task What_was_measured_for_another_length_or_was_cut_off_is_measured_again()
    {
        var plays = 0;
        var experiment = Fake("a/first", play =>
        {
            plays++;
            return Holds(play);
        });
        await RunAsync(resumes: true, experiment);
        await new ExperimentRun(new RunSettings([experiment], 1, _folder.FullName, true)).RunAsync(default);
        Assert.Equal(2, plays);
        await File.WriteAllTextAsync(Path.Combine(_folder.FullName, "a-first.json"), "{\"name\": \"a/fi");
        await RunAsync(resumes: true, experiment);
        Assert.Equal(3, plays);
    }

    [Fact]
    public async Task Time_for_all_is_shared_by_the_lengths_of_the_experiments()
    {
        var (scales, rounds) = (new List<double>(), new List<int>());
        Task<Outcome> Note(Play play)
        {
            scales.Add(play.Seconds(100, 5));
            rounds.Add(play.Rounds(3));
            return Holds(play);
        }

        Experiment[] chosen = [Fake("a/one", Note, 2), Fake("a/two", Note, 8)];
        foreach (var minutes in (double[])[20, 5, 0.1])
            await new ExperimentRun(new RunSettings(chosen, minutes, _folder.FullName, false)).RunAsync(default);
        Assert.Equal([100.0, 100, 50, 50, 5, 5], scales);
        Assert.Equal([6, 6, 2, 2, 1, 1], rounds);
    }

    [Fact]
    public async Task The_book_has_each_result_once_with_a_link_to_it()
    {
        await RunAsync(resumes: false, Catalog.All[0] with { PlayAsync = Holds });
        var results = ExperimentResult.ReadAll(_folder.FullName);
        var anchor = Catalog.All[0].Name.Replace('/', '-');
        var page = Book.Render(results);
        Assert.Contains($"<a href=\"#{anchor}\">", page, StringComparison.Ordinal);
        Assert.Single(page.Split($"id=\"{anchor}\"").Skip(1));
        Assert.Contains("less &lt; more", page, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Each_number_is_a_line_of_the_csv_with_quotes_where_a_name_has_a_comma()
    {
        await RunAsync(resumes: false, Fake("a/one", static _ => Task.FromResult(new Outcome(
            [Measure.AtMost(1, "p99, locality", "ms", [0.5, 0.25])], [new("chart", ChartKind.Lines, "x", [Curve.Of("line", [(0, 1.5)])])]))));
        var lines = await File.ReadAllLinesAsync(Path.Combine(_folder.FullName, "a-one.csv"), TestContext.Current.CancellationToken);
        Assert.Equal("a/one,measure,\"p99, locality\",,,0.5,ms,0.25,0.5,2,at most 1.00,True", lines[1]);
        Assert.Equal("a/one,chart,chart,line,0,1.5,,,,,,", lines[2]);
    }

    [Fact]
    public void Each_kind_of_chart_is_drawn_with_numbers_only()
    {
        foreach (var kind in Enum.GetValues<ChartKind>())
        {
            var chart = new Chart("title", kind, "rows / columns",
                [Curve.Of("1", [(1, 0), (10, 0.5)]), Curve.Paper("2", (1, 0.25), (10, 1)) with { Name = "2" }], ["part", "other"]);
            var drawn = chart.Render();
            Assert.Contains("<svg", drawn, StringComparison.Ordinal);
            Assert.DoesNotContain("NaN", drawn, StringComparison.Ordinal);
            Assert.DoesNotContain(">-0", drawn, StringComparison.Ordinal);
        }
    }

    [Fact]
    public void What_the_paper_reports_is_dashed_and_the_legend_is_below_the_chart()
    {
        var drawn = new Chart("title", ChartKind.Lines, "x",
            [Curve.Of("here", [(0, 1), (1, 2)]), Curve.Paper("there", (0, 1), (1, 1))]).Render();
        Assert.Equal(2, drawn.Split("stroke-dasharray").Length - 1);
        Assert.Matches("<text x=\"\\d+\" y=\"3\\d\\d\">here", drawn);
    }

    private static Task<Outcome> Holds(Play play) => Task.FromResult(new Outcome(
        [Measure.AtMost(1, "less < more", "", [0.5, 0.6])],
        [new("chart", ChartKind.Lines, "x", [Curve.Of("line", [(0, 1), (1, 2)])])], "a note"));

    private static Experiment Fake(string name, Func<Play, Task<Outcome>> play, double minutes = 1) =>
        new(name, [new("000 ActOp", "Figure 0", "nothing")], minutes, play);

    private Task<IReadOnlyList<ExperimentResult>> RunAsync(bool resumes, params Experiment[] chosen) =>
        new ExperimentRun(new RunSettings(chosen, null, _folder.FullName, resumes)).RunAsync(default);
}
