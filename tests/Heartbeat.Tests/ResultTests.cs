using System.Text.Json;
using System.Xml.Linq;
using ActOp.Harness.Processes;
using Heartbeat.Bench;
using Heartbeat.Bench.Experiments;
using Heartbeat.Bench.Runs;
using Heartbeat.Bench.Silos;

namespace Heartbeat.Tests;

public sealed class ResultTests
{
    private static readonly HeartbeatOptions Options = new();

    [Fact]
    public void A_cell_is_what_its_measured_segment_was()
    {
        var result = Result(Allocation.Model);
        Assert.Equal(10_000, result.Requests);
        Assert.Equal(1000, result.AchievedRate);
        Assert.Equal(40, result.CpuPercent, 3);
        Assert.Equal(20.0 / Environment.ProcessorCount, result.ClientPercent, 3);
        Assert.Equal(new ThreadNumbers(2, 3, 1, 1), result.Threads);
        Assert.Equal(1, result.ThreadChanges);
        Assert.InRange(result.LatencyMs.P50, 0.99, 1.01);
    }

    [Fact]
    public void The_JSON_has_the_agreed_names()
    {
        var compared = new CompareResult([Result(Allocation.ThreadPool), Result(Allocation.Model)]);
        using var json = JsonDocument.Parse(JsonSerializer.Serialize(compared, JsonLines.File));
        Assert.Equal(["cells", "regret", "regretCount"], Names(json.RootElement));
        var cell = json.RootElement.GetProperty("cells")[0];
        string[] agreed =
        [
            "allocation", "load", "rate", "computeUs", "blockingPercent", "repeat", "latencyMs", "requests", "errors", "cpuPercent",
            "clientPercent", "threads", "threadChanges",
        ];
        Assert.Empty(agreed.Except(Names(cell)));
        Assert.Empty(((string[])["p50", "p95", "p99", "max"]).Except(Names(cell.GetProperty("latencyMs"))));
        Assert.Equal(["receive", "work", "siloSend", "clientSend"], Names(cell.GetProperty("threads")));
        Assert.Equal("threadPool", cell.GetProperty("allocation").GetString());
        Assert.Equal("high", cell.GetProperty("load").GetString());
        var regret = json.RootElement.GetProperty("regret")[0];
        string[] names = ["computeUs", "blockingPercent", "load", "rate", "best", "bestP99Ms", "modelP99Ms", "ratio", "modelThreads"];
        Assert.Empty(names.Except(Names(regret)));
        Assert.Equal("threadPool", regret.GetProperty("best").GetString());
        Assert.Equal(["receive", "work"], Names(regret.GetProperty("modelThreads")[0]));
    }

    [Fact]
    public void A_cell_that_failed_is_an_error_in_a_table_that_goes_on()
    {
        var planned = new PlannedRun(1, 200, 0, Allocation.Cores);
        var failed = CellResult.Of(planned, LoadLevel.High, 1000, new CellRun(new CellTimeline(), null, "silo 0 ended early"));
        Assert.Equal(1, failed.Errors);
        Assert.Equal(["silo 0 ended early"], failed.ErrorTexts);
        var rows = CompareTable.Rows([failed, Result(Allocation.Model)]);
        Assert.Equal(2, rows.Count);
        Assert.All(rows, row => Assert.Equal(CompareTable.Titles.Length, row.Length));
        Assert.Contains(CompareTable.Notes(Options, [failed]), note => note.StartsWith("! could not keep up", StringComparison.Ordinal));
    }

    [Fact]
    public void The_table_has_medians_of_the_repeats_beside_the_baseline()
    {
        CellResult[] results =
        [
            Result(Allocation.Cores, 2), Result(Allocation.Cores, 4), Result(Allocation.Cores, 100),
            Result(Allocation.Model, 1), Result(Allocation.Model, 1), Result(Allocation.Model, 9),
        ];
        var rows = CompareTable.Rows(results);
        Assert.Equal(["4.00", "1.00"], rows.Select(row => row[2]));
        Assert.Equal(["1.00", "0.25"], rows.Select(row => row[6]));
    }

    [Fact]
    public void The_parts_of_a_request_add_up_to_its_latency()
    {
        var result = BreakdownResult.Of(Allocation.Cores, Cells.Run("warmup", "measure"), 0.03);
        Assert.Equal(["receive queue", "receive", "work queue", "work", "client-send queue", "client-send", "network", "other"],
            result.Parts.Select(part => part.Name));
        // 0.05 s of waiting and 0.1 s of work, of which 0.02 s without a processor, in a second of 1,000 requests.
        Assert.Equal([0.05, 0.08, 0.05, 0.08, 0.05, 0.08, 0.03, 0.58], result.Parts.Select(part => Math.Round(part.Ms, 6)));
        Assert.Equal(result.MeanMs, result.Parts.Sum(part => part.Ms), 6);
        Assert.All(BreakdownTable.Rows([result, result]), row => Assert.Equal(BreakdownTable.Titles([result, result]).Length, row.Length));
    }

    [Fact]
    public void Demands_are_read_off_the_counters()
    {
        var demands = DemandReading.Of(Cells.Run("warmup", "measure"));
        Assert.All(demands, demand =>
        {
            Assert.Equal(1000, demand.Arrivals, 3);
            Assert.Equal(60e-6, demand.Compute, 9);
            Assert.Equal(20e-6, demand.Blocked, 9);
        });
    }

    [Fact]
    public void A_stage_without_events_can_be_written_to_JSON()
    {
        var json = JsonSerializer.Serialize(MeasuredDemand.Of(default), JsonLines.File);
        Assert.Contains("\"eventsPerSecond\": 0", json, StringComparison.Ordinal);
    }

    [Fact]
    public void Changes_are_counted_from_the_step()
    {
        SiloSample[] samples = [.. ((int[])[2, 2, 3, 3, 5, 5]).Select((workers, i) => Cells.Sample(i, workers))];
        Assert.Equal((2, 3.0), StepResult.Changes(samples, 1, 5));
        Assert.Equal((0, 0.0), StepResult.Changes(samples, 4.5, 5));
    }

    [Fact]
    public void A_step_says_threads_and_time_to_the_last_change()
    {
        var result = StepResult.Of(Allocation.Model, Cells.Run("low", "high"));
        Assert.Equal(["low", "high"], result.Segments.Select(segment => segment.Name));
        Assert.Equal([0, 1], result.Segments.Select(segment => segment.Changes));
        Assert.Equal(1.25, result.Segments[1].SecondsToLastChange, 3);
        Assert.Equal(3, result.Timeline[^1].Threads.Work);
        Assert.Equal(0, result.Timeline[0].T);
    }

    [Fact]
    public void The_model_stands_beside_the_best_of_the_heat_map()
    {
        var map = Map();
        Assert.Equal(4, map.WorstToBest, 6);
        Assert.Equal(1.1, map.ModelToBest, 6);
        Assert.Equal((2, 1), (map.Best.Workers, map.Best.Senders));
        var names = Names(JsonSerializer.SerializeToElement(map, JsonLines.File));
        Assert.Empty(((string[])["rate", "cells", "best", "worst", "worstToBest", "modelThreads", "model", "modelToBest"]).Except(names));
    }

    [Fact]
    public void Reports_need_nothing_from_outside()
    {
        CellResult[] compared = [Result(Allocation.Cores), Result(Allocation.Model)];
        var breakdown = BreakdownResult.Of(Allocation.Cores, Cells.Run("warmup", "measure"), 0.03);
        AssertAlone(CompareReport.Render(Options, new CompareResult(compared)), 1);
        AssertAlone(BreakdownExperiment.Render([breakdown]), 1);
        AssertAlone(HeatmapExperiment.Render(Map()), 1);
        AssertAlone(StepExperiment.Render(Options, [StepResult.Of(Allocation.Model, Cells.Run("low", "high"))]), 2);
    }

    private static CellResult Result(Allocation allocation, double p50 = 0)
    {
        var run = Cells.Run("warmup", SegmentNames.MeasureOf(LoadLevel.High));
        var result = CellResult.Of(new PlannedRun(1, 200, 0, allocation), LoadLevel.High, Cells.Rate, run);
        return p50 == 0 ? result : result with { LatencyMs = result.LatencyMs with { P50 = p50 } };
    }

    private static HeatmapResult Map() => new()
    {
        Rate = 1000,
        BlockingPercent = 0,
        Cells = [new(1, 1, [0.2, 0.22]), new(1, 2, [0.3, 0.3]), new(2, 1, [0.1, 0.1]), new(2, 2, [0.4, 0.4])],
        ModelThreads = new ThreadNumbers(2, 2, 1, 1),
        Model = new(2, 1, [0.11, 0.11, 0.11]),
        BestAgain = new(2, 1, [0.1, 0.1, 0.1]),
    };

    private static void AssertAlone(string html, int charts)
    {
        Assert.Equal(charts, html.Split("<svg").Length - 1);
        Assert.DoesNotContain("http", html, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("<script", html, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("NaN", html, StringComparison.Ordinal);
        foreach (var figure in html.Split("<figure>").Skip(1))
        {
            Assert.NotNull(XElement.Parse(
                figure[figure.IndexOf("<svg", StringComparison.Ordinal)..(figure.IndexOf("</svg>", StringComparison.Ordinal) + 6)]));
        }
    }

    private static string[] Names(JsonElement element) => [.. element.EnumerateObject().Select(property => property.Name)];
}
