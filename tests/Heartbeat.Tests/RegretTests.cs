using System.Text.Json;
using ActOp.Harness.Load;
using ActOp.Harness.Processes;
using Heartbeat.Bench;
using Heartbeat.Bench.Experiments;
using Heartbeat.Bench.Runs;

namespace Heartbeat.Tests;

public sealed class RegretTests
{
    [Fact]
    public void Regret_is_the_models_median_over_that_of_the_best_other()
    {
        var regret = Assert.Single(Regret.Of(
        [
            .. Cells(Allocation.Cores, 9, 1, 8), .. Cells(Allocation.Eight, 5, 100, 4), .. Cells(Allocation.Model, 50, 6, 5.5),
        ]));
        Assert.Equal(Allocation.Eight, regret.Best);
        Assert.Equal(5, regret.BestP99Ms);
        Assert.Equal(6, regret.ModelP99Ms);
        Assert.Equal(1.2, regret.Ratio!.Value, 6);
        Assert.Equal([5, 100, 4], regret.BestP99sMs);
        Assert.Equal([50, 6, 5.5], regret.ModelP99sMs);
        Assert.Equal((200, 10, LoadLevel.High, 1000), (regret.ComputeUs, regret.BlockingPercent, regret.Load, regret.Rate));
    }

    [Fact]
    public void An_even_number_of_passes_has_the_mean_of_the_middle_two()
    {
        var regret = Assert.Single(Regret.Of([.. Cells(Allocation.Cores, 1, 2, 4, 100), .. Cells(Allocation.Model, 3, 3, 3, 3)]));
        Assert.Equal(3, regret.BestP99Ms);
        Assert.Equal(1, regret.Ratio);
    }

    [Fact]
    public void The_models_threads_are_told_of_every_pass_in_order()
    {
        CellResult[] passes = [.. Cells(Allocation.Model, 1, 2)];
        passes = [passes[1] with { Threads = new ThreadNumbers(2, 7, 1, 1) }, passes[0] with { Threads = new ThreadNumbers(1, 3, 1, 1) }];
        var regret = Assert.Single(Regret.Of([.. passes, .. Cells(Allocation.Eight, 1, 1)]));
        Assert.Equal(["1/3", "2/7"], regret.ModelThreads.Select(threads => threads.ToString()));
        Assert.Equal("1/3 2/7", RegretTable.Rows([regret])[0][^1]);
    }

    [Fact]
    public void Every_load_and_cost_of_a_request_has_its_own_regret()
    {
        CellResult[] one = [.. Cells(Allocation.Cores, 1), .. Cells(Allocation.Model, 1)];
        CellResult[] all =
        [
            .. one, .. one.Select(cell => cell with { Load = LoadLevel.Low }), .. one.Select(cell => cell with { ComputeUs = 0 }),
            .. one.Select(cell => cell with { BlockingPercent = 0 }),
        ];
        Assert.Equal(
            [(0, 10, LoadLevel.High), (200, 0, LoadLevel.High), (200, 10, LoadLevel.Low), (200, 10, LoadLevel.High)],
            Regret.Of(all).Select(regret => (regret.ComputeUs, regret.BlockingPercent, regret.Load)));
    }

    [Fact]
    public void Without_the_model_or_something_beside_it_there_is_no_regret()
    {
        Assert.Empty(Regret.Of([.. Cells(Allocation.Model, 1)]));
        Assert.Empty(Regret.Of([.. Cells(Allocation.Cores, 1), .. Cells(Allocation.Eight, 1)]));
        Assert.Empty(Regret.Of([]));
    }

    [Fact]
    public void A_measurement_without_an_answer_is_worse_than_any_other()
    {
        CellResult[] cores = [.. Cells(Allocation.Cores, 0, 0, 1)];
        CellResult[] eight = [.. Cells(Allocation.Eight, 0, 7, 5)];
        var regret = Assert.Single(Regret.Of([.. cores, .. eight, .. Cells(Allocation.Model, 7, 7, 7)]));
        Assert.Equal(Allocation.Eight, regret.Best);
        Assert.Equal(7, regret.BestP99Ms);
        Assert.Equal([7, 5], regret.BestP99sMs);

        var unknown = Assert.Single(Regret.Of([.. cores, .. Cells(Allocation.Model, 7, 7, 7)]));
        Assert.Null(unknown.Best);
        Assert.Null(unknown.Ratio);
        Assert.Null(Assert.Single(Regret.Of([.. eight, .. Cells(Allocation.Model, 0, 0, 0)])).Ratio);
        Assert.Contains("\"ratio\": null", JsonSerializer.Serialize(unknown, JsonLines.File), StringComparison.Ordinal);
        Assert.All(RegretTable.Rows([regret, unknown]), row => Assert.Equal(RegretTable.Titles.Length, row.Length));
    }

    [Fact]
    public void Good_and_bad_cells_are_counted()
    {
        Regret[] regrets = [.. ((double[])[0.5, 1.15, 1.16, 1.5, 1.51, 4]).Select(Of), Of(1) with { ModelP99Ms = null }];
        var count = RegretCount.Of(regrets);
        Assert.Equal(new RegretCount(7, 2, 2, 1), count);
        Assert.Equal("Regret: at most 1.15 in 2 of 7 cells, above 1.5 in 2; 1 not measured.", count.ToString());
        Assert.Contains(count.ToString(), RegretTable.Notes(regrets));
        Assert.Equal(2, RegretTable.Rows(regrets).Count(row => row[4].EndsWith('!')));
    }

    private static Regret Of(double ratio) => new()
    {
        ComputeUs = 0,
        BlockingPercent = 0,
        Load = LoadLevel.Low,
        Rate = 1000,
        BestP99Ms = 1,
        ModelP99Ms = ratio,
    };

    /// <summary>A cell for each p99 in ms; 0 is one that failed.</summary>
    private static IEnumerable<CellResult> Cells(Allocation allocation, params double[] p99s) => p99s.Select((p99, i) => new CellResult
    {
        Allocation = allocation,
        Load = LoadLevel.High,
        Rate = 1000,
        ComputeUs = 200,
        BlockingPercent = 10,
        Repeat = i + 1,
        Requests = p99 > 0 ? 1000 : 0,
        LatencyMs = new LatencySummary(0, 0, p99, 0, 0),
    });
}
