using System.Globalization;
using System.Text.Json;
using ActOp.Experiments.Results;
using ActOp.Experiments.Running;

namespace ActOp.Experiments.Papers;

/// <summary>Threads of stages (ActOp paper, sections 3, 5 and 6.2), on one silo under the load of Heartbeat and Counter.</summary>
internal static class ActOpThreads
{
    /// <summary>A regret up to which the model's choice is good.</summary>
    private const double Good = 1.15;

    internal static IReadOnlyList<Experiment> Experiments { get; } =
    [
        new("actop/breakdown", [new(ActOpPaper.Seed, "Figure 4", "where the time of a request goes")], 1.5, BreakdownAsync),
        new("actop/threads", [new(ActOpPaper.Seed, "Figure 5", "latency over workers and senders")], 9, ThreadsAsync),
        new("actop/queue-control",
        [
            new(ActOpPaper.Seed, "Figure 7", "threads by queue length in an emulated server"),
            new(ActOpPaper.Seed, "Theorem 2", "equation (1) against the emulated latency"),
        ], 2, QueueControlAsync),
        new("actop/heartbeat", [new(ActOpPaper.Seed, "Figure 11(a)", "latency improvement by threads under three loads")], 6, HeartbeatAsync),
        new("actop/regret", [new(ActOpPaper.Seed, "Section 6.2", "the model against the best other allocation, 12 loads")], 18, RegretAsync),
    ];

    private static async Task<Outcome> BreakdownAsync(Play play)
    {
        var results = await play.RunAsync(BenchProgram.Heartbeat, ["breakdown", "--application", "counter", .. Lengths(play)]);
        var runs = results.EnumerateArray().ToList();
        var parts = runs[0].List("parts").Select(static part => part.Text("name")).ToList();
        return new Outcome(
            [.. runs.Select(static run => Measure.Of($"share of queues, {run.Text("allocation")}", "", [Queues(run)], "more than half"))],
            [
                new("Mean latency of a request, us", ChartKind.Parts, "", [.. runs.Select(static run => Curve.Of(run.Text("allocation"),
                    run.List("parts").Select(static (part, index) => ((double)index, 1000 * part.Number("ms")))))], parts),
            ],
            "Calls do not wait in a queue for each stage here: a thread that receives may run the turn and write the answer, which is why "
            + "less of the time is queues than in the paper.");

        static double Queues(JsonElement run) =>
            run.List("parts").Where(static part => part.Text("name").EndsWith("queue", StringComparison.Ordinal))
                .Sum(static part => part.Number("ms")) / run.Number("meanMs");
    }

    private static async Task<Outcome> ThreadsAsync(Play play)
    {
        var counts = play.IsFull ? "1,2,3,4,6,8" : "1,2";
        var result = await play.RunAsync(BenchProgram.Heartbeat,
        [
            "heatmap", "--workers", counts, "--senders", play.IsTrial ? "1" : counts, "--passes", Text(play.Rounds(2)),
            "--warmup", Text(play.Seconds(1, 0.5)), "--measure", Text(play.Seconds(2, 0.5)), .. Peak(play),
        ]);
        var cells = result.List("cells").ToList();
        return new Outcome(
            [
                Measure.Of("worst / best allocation", "", [result.Number("worstToBest")], "4 (8 workers, 6 senders / 2 workers, 3 senders: 2.9 in the table)"),
                Measure.AtMost(Good, "model's choice / best allocation", "",
                    [.. result.GetProperty("model").List("passesMs").Zip(result.GetProperty("bestAgain").List("passesMs"),
                        static (model, best) => model.GetDouble() / best.GetDouble())]),
            ],
            [
                new("Median latency here, ms", ChartKind.Heat, "workers / senders",
                    [.. cells.GroupBy(static cell => cell.Number("workers")).Select(static row => Curve.Of(
                        Text(row.Key), row.Select(static cell => (cell.Number("senders"), cell.Number("medianMs")))))]),
                new("Median latency in the paper, ms", ChartKind.Heat, "workers / senders", [.. PaperHeat()]),
            ],
            "A thread that receives runs turns and writes answers while other threads sleep, so the number of senders matters little here.");
    }

    private static async Task<Outcome> QueueControlAsync(Play play)
    {
        var result = await play.RunAsync(BenchProgram.Lab,
            ["seda", "--hours", Text(play.Seconds(1, 0.25)), "--compare-seconds", Text(play.Seconds(60, 5))]);
        var controllers = result.List("controllers").ToDictionary(static one => one.Text("controller"));
        var proxies = result.List("proxies").ToList();
        var (queue, model) = (controllers["queueLength"], controllers["model"]);
        return new Outcome(
            [
                Measure.Of("thread changes, by queue length", "1/h", [queue.Number("changesPerHour")], "at each sample of 30 s"),
                Measure.Of("thread changes, by the model", "1/h", [model.Number("changesPerHour")]),
                Measure.AtMost(1, "mean latency, by the model / by queue length", "", [model.Number("meanLatency") / queue.Number("meanLatency")]),
                .. proxies.Select(static proxy => Measure.Of(
                    $"emulated latency of the model's threads above the best, service times {proxy.Text("shape")}", "%",
                    [100 * proxy.Number("gapShare")])),
            ],
            [
                Samples("Queue lengths, threads by queue length", queue, "queued"), Samples("Threads by queue length", queue, "threads"),
                Samples("Threads by the model", model, "threads"),
            ]);
    }

    private static async Task<Outcome> HeartbeatAsync(Play play)
    {
        string[] loads = play.IsTrial ? ["high"] : ["low", "middle", "high"];
        var result = await play.RunAsync(BenchProgram.Heartbeat,
        [
            "compare", "--allocations", "cores,model", "--loads", string.Join(',', loads), "--compute-us", "200", "--blocking", "0",
            "--repeat", Text(play.Rounds(3)), .. Lengths(play),
        ]);
        var cells = result.List("cells").ToLookup(static cell => (cell.Text("load"), cell.Text("allocation")));
        double[] Ratio(string load, string quantile) => [.. cells[(load, "cores")].Zip(cells[(load, "model")], (cores, model) =>
            model.Number("latencyMs." + quantile) / cores.Number("latencyMs." + quantile))];
        return new Outcome(
            [.. loads.SelectMany(load => (Measure[])
            [
                Measure.Of($"p50 at {load} load, model / a thread per core", "", Ratio(load, "p50"), load == "high" ? "0.42" : null),
                Measure.NotWorse($"p99 at {load} load, model / a thread per core", Ratio(load, "p99"), load == "high" ? "0.32" : null),
            ])],
            [
                new("Latency improvement by the model, %", ChartKind.Lines, "load: 50, 65 and 80 % of the peak",
                    [.. ((string[])["p50", "p99"]).Select(quantile => Curve.Of(quantile, loads.Select((load, index) =>
                        (50.0 + (15 * index), 100 * (1 - Ratio(load, quantile).Order().ElementAt(Ratio(load, quantile).Length / 2))))))]),
            ],
            "The paper's baseline has eight threads for each stage on eight cores. Here a stage without work holds no processor, and a thread "
            + "per core is what the machine has, so the model has less to win.");
    }

    private static async Task<Outcome> RegretAsync(Play play)
    {
        var result = await play.RunAsync(BenchProgram.Heartbeat,
        [
            "compare", "--compute-us", play.IsFull ? "0,200" : "200", "--repeat", Text(play.Rounds(3)),
            .. play.IsFull ? (string[])[] : ["--loads", "low"], .. play.IsTrial ? (string[])["--allocations", "cores,model"] : [],
            .. Lengths(play),
        ]);
        var regrets = result.List("regret").Where(static one => one.GetProperty("ratio").ValueKind == JsonValueKind.Number).ToList();
        var good = regrets.Count(static one => one.Number("ratio") <= Good);
        return new Outcome(
            [
                Measure.AtLeast(11.0 / 12, $"share of {regrets.Count} loads with a regret of at most {Measure.Text(Good)}", "",
                    [(double)good / regrets.Count]),
                .. regrets.Select(static one => Measure.Of(
                    $"p99 of the model / best other, {one.Text("load")}, {one.Number("computeUs")} us, {one.Number("blockingPercent")} % blocking", "",
                    [one.Number("ratio")])),
            ], []);
    }

    private static Chart Samples(string title, JsonElement controller, string list)
    {
        var samples = controller.List("samples").ToList();
        var stages = samples[0].List(list).Count();
        return new Chart(title, ChartKind.Lines, "seconds", [.. Enumerable.Range(0, stages).Select(stage => Curve.Of(
            "stage " + (stage + 1), samples.Select(sample => (sample.Number("seconds"), sample.List(list).ElementAt(stage).GetDouble()))))]);
    }

    /// <summary>Figure 5 of the paper: 2 to 8 workers, 2 to 8 senders.</summary>
    private static IEnumerable<Curve> PaperHeat()
    {
        double[][] rows =
        [
            [13.2, 9.9, 11.4, 10.4, 12.1, 13.2, 12.9], [11.9, 12.7, 14, 14.7, 15.8, 15.1, 15.5], [16.8, 15.8, 18.7, 18.1, 18.6, 19.1, 18.8],
            [19.1, 18.6, 20.4, 20.4, 23.1, 23.7, 23.7], [25.4, 24.5, 23.6, 25.7, 25.6, 25.2, 28.5],
            [24.9, 26.9, 30.7, 30.7, 31.4, 36.6, 32.4], [30.7, 31.7, 30.8, 34.8, 38.2, 37.2, 32.3],
        ];
        return rows.Select(static (row, index) =>
            new Curve(Text(index + 2), [.. row.Select(static (ms, column) => new Point(column + 2, ms))], true));
    }

    /// <summary>A trial does not search for the peak.</summary>
    private static string[] Lengths(Play play) =>
        ["--warmup", Text(play.Seconds(4, 0.5)), "--measure", Text(play.Seconds(2, 0.5)), .. Peak(play)];

    private static string[] Peak(Play play) => play.IsTrial ? ["--peak", "4000"] : [];

    private static string Text(double value) => value.ToString(CultureInfo.InvariantCulture);
}
