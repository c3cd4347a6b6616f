using System.CommandLine;
using ActOp.Staging.Control;
using ActOp.Staging.Model;

namespace ActOp.Lab.Seda;

/// <summary>What to play on a server. Times in seconds.</summary>
/// <param name="Plan">The server.</param>
internal sealed record SedaStudy(SedaPlan Plan)
{
    public double Hours { get; init; } = 1;

    public double WarmUp { get; init; } = 300;

    public double SamplePeriod { get; init; } = 10;

    public double Penalty { get; init; } = 1e-4;

    /// <summary>
    /// What the model takes for the number of processors, as a multiple of it: busy threads may then want more processors than there are.
    /// </summary>
    public double Headroom { get; init; } = 1.5;

    public int Maximum { get; init; } = 64;

    public double ModelPeriod { get; init; } = 1;

    public double QueuePeriod { get; init; } = 30;

    public int High { get; init; } = 100;

    public int Low { get; init; } = 10;

    public double CompareSeconds { get; init; } = 60;

    public int Steps { get; init; } = 1;

    public double Within { get; init; } = 0.05;

    public double Seconds => Hours * 3600;

    public FixedController NewFixed() => new(Plan.ThreadsLikeProcessors);

    public QueueLengthController NewQueueLength() => new(High, Low, Maximum);

    public ModelController NewModel() =>
        new(new(Plan.Processors, Penalty) { Maximum = Maximum, Period = ModelPeriod, Headroom = Headroom });

    public ThreadModel Model => new(Headroom * Plan.Processors, Penalty);

    /// <summary>What is wrong with it, in words for whoever gave the options; null when nothing is.</summary>
    public string? Problem()
    {
        var plan = Plan;
        (bool IsRight, string Problem)[] rules =
        [
            (plan.Stages.Count is >= 1 and <= ThreadRounding.MaxStages, $"--stages must be 1 to {ThreadRounding.MaxStages}"),
            (IsPositive(plan.Rate), "--rate must be above zero"),
            (plan.Stages.All(static stage => IsPositive(stage.Compute)), "--compute must be above zero for every stage"),
            (plan.Stages.All(static stage => double.IsFinite(stage.Blocked) && stage.Blocked >= 0), "--blocked must not be negative"),
            (plan.Processors >= 1, "--processors must be at least 1"),
            (double.IsFinite(plan.SwitchCost) && plan.SwitchCost >= 0, "--switch-cost must not be negative"),
            (IsPositive(Hours), "--hours must be above zero"),
            (WarmUp >= 0 && WarmUp < Seconds, "--warmup must not be negative and shorter than --hours"),
            (IsPositive(SamplePeriod), "--sample must be above zero"),
            (IsPositive(Penalty), "--penalty must be above zero"),
            (double.IsFinite(Headroom) && Headroom >= 1, "--headroom must be at least 1"),
            (Maximum >= plan.Processors, "--maximum must not be below --processors, with which every stage begins"),
            (IsPositive(ModelPeriod), "--model-period must be above zero"),
            (IsPositive(QueuePeriod), "--queue-period must be above zero"),
            (Low >= 0 && High >= Low, "--low must not be negative, and --high not below it"),
            (IsPositive(CompareSeconds), "--compare-seconds must be above zero"),
            (Steps >= 1, "--steps must be at least 1"),
            (double.IsFinite(Within) && Within >= 0, "--within must not be negative"),
        ];
        foreach (var (isRight, problem) in rules)
        {
            if (!isRight)
                return problem + ".";
        }

        var needed = plan.Demands.Sum(static stage => stage.Processors);
        return needed >= plan.Processors
            ? $"The stages need {needed:0.##} of {plan.Processors} processors: queues would grow without end. Lower --rate or --compute."
            : null;
    }

    private static bool IsPositive(double number) => double.IsFinite(number) && number > 0;
}

/// <summary>A server with stages in tandem: each request visits all of them in turn.</summary>
/// <param name="Stages">The stages.</param>
/// <param name="Rate">Requests a second; they arrive independently of each other (Poisson).</param>
/// <param name="Processors">Processors that all threads share, p.</param>
internal sealed record SedaPlan(IReadOnlyList<StageLoad> Stages, double Rate, int Processors)
{
    /// <summary>How the times of the stages scatter.</summary>
    public ServiceShape Shape { get; init; }

    /// <summary>
    /// Slow-down of all by each runnable thread beyond the processors: with n of them work takes 1 + cost (n - p) times as long.
    /// </summary>
    public double SwitchCost { get; init; } = 0.01;

    /// <summary>Seed of all draws.</summary>
    public int Seed { get; init; } = 1;

    /// <summary>What the stages have to do, as the model sees it.</summary>
    public IReadOnlyList<StageDemand> Demands => [.. Stages.Select(stage => stage.Demand(Rate))];

    /// <summary>As many threads as processors for each stage: where every controller begins.</summary>
    public int[] ThreadsLikeProcessors => [.. Stages.Select(_ => Processors)];
}

/// <summary>What one event takes in a stage on average, in seconds.</summary>
/// <param name="Compute">Processor time, x; above zero.</param>
/// <param name="Blocked">Time in synchronous calls after it, w.</param>
internal readonly record struct StageLoad(double Compute, double Blocked = 0)
{
    /// <summary>The same as the model sees it, with this many events a second.</summary>
    public StageDemand Demand(double rate) => new(rate, Compute, Blocked);
}

/// <summary>
/// The options of the seda command. Times are in the unit that the description says; <see cref="SedaStudy"/> has seconds.
/// </summary>
internal sealed class SedaOptions
{
    private const double Milliseconds = 1e-3;
    private const double Microseconds = 1e-6;

    private static readonly double[] DefaultCompute = [0.8, 2.6, 1.6, 3.0, 0.6, 1.4];
    private static readonly double[] DefaultBlocked = [0, 0, 3.4, 0, 6.2, 0];

    private readonly Option<int> _stages = New("--stages", "Stages that a request visits one after the other.", 6);
    private readonly Option<double> _rate = New("--rate", "Requests a second.", 660.0);
    private readonly Option<double[]> _compute = NewList("--compute",
        "Mean processor time of an event, in milliseconds: one number, or one for each stage. Default 0.8 2.6 1.6 3.0 0.6 1.4, repeated.");
    private readonly Option<double[]> _blocked =
        NewList("--blocked",
            "Mean time that an event then waits in synchronous calls, in milliseconds: one number, or one for each stage. Default 0 0 "
                + "3.4 0 6.2 0, repeated.");
    private readonly Option<ServiceShape> _shape = New(
        "--shape", "How service times scatter in the comparison of controllers.", ServiceShape.Exponential);
    private readonly Option<int> _processors = New("--processors", "Processors that all threads share.", 8);
    private readonly Option<double> _switchCost = New(
        "--switch-cost", "Share by which each runnable thread beyond the processors slows all down.", 0.01);
    private readonly Option<int> _seed = New("--seed", "Seed of arrivals and service times.", 1);
    private readonly Option<double> _hours = New("--hours", "Hours of virtual time for each controller.", 1.0);
    private readonly Option<double> _warmup = New("--warmup", "Seconds of virtual time at the start that the numbers leave out.", 300.0);
    private readonly Option<double> _sample = New("--sample", "Seconds of virtual time between the points of the charts.", 10.0);
    private readonly Option<double> _penalty = New("--penalty", "The model: what a thread costs in latency (eta), in microseconds.", 100.0);
    private readonly Option<double> _headroom = New(
        "--headroom", "The model: the processors that busy threads may want, as a multiple of those there are. The paper: 1.", 1.5);
    private readonly Option<int> _maximum = New("--maximum", "The most threads that a controller gives a stage.", 64);
    private readonly Option<double> _modelPeriod = New("--model-period", "Seconds between decisions of the model.", 1.0);
    private readonly Option<double> _queuePeriod = New("--queue-period", "Seconds between decisions by queue length.", 30.0);
    private readonly Option<int> _high = New("--high", "A longer queue gets a thread (Th).", 100);
    private readonly Option<int> _low = New("--low", "A shorter queue loses a thread (Tl).", 10);
    private readonly Option<double> _compareSeconds = New(
        "--compare-seconds", "Seconds of virtual time for each allocation that is compared with the model's.", 60.0);
    private readonly Option<int> _steps =
        New("--steps",
            "Steps to better neighbours, at most: 1 looks at the neighbours of the model's allocation, more at the neighbours of the "
                + "best of them.", 1);
    private readonly Option<double> _within = New(
        "--within", "The model's allocation is good when its latency is at most this many per cent above the best.", 5.0);

    public Option<FileInfo?> Json { get; } = new("--json") { Description = "Write the result here." };

    public Option<FileInfo?> Html { get; } =
        new("--html") { Description = "Write tables and charts here: one page that needs nothing else." };

    public void AddTo(Command command)
    {
        Option[] all =
        [
            _stages, _rate, _compute, _blocked, _shape, _processors, _switchCost, _seed, _hours, _warmup, _sample, _penalty, _headroom,
            _maximum, _modelPeriod, _queuePeriod,
            _high, _low, _compareSeconds, _steps, _within, Json, Html,
        ];
        foreach (var option in all)
            command.Options.Add(option);
    }

    /// <summary>Reads the study; it may still have a problem.</summary>
    /// <exception cref="ArgumentException">A list fits the number of stages in no way.</exception>
    public SedaStudy Read(ParseResult result)
    {
        var count = result.GetValue(_stages);
        var compute = PerStage(count, result.GetValue(_compute), DefaultCompute, _compute.Name);
        var blocked = PerStage(count, result.GetValue(_blocked), DefaultBlocked, _blocked.Name);
        StageLoad[] stages = [.. compute.Zip(blocked, static (x, w) => new StageLoad(x * Milliseconds, w * Milliseconds))];
        SedaPlan plan = new(stages, result.GetValue(_rate), result.GetValue(_processors))
        {
            Shape = result.GetValue(_shape),
            SwitchCost = result.GetValue(_switchCost),
            Seed = result.GetValue(_seed),
        };
        return new(plan)
        {
            Hours = result.GetValue(_hours),
            WarmUp = result.GetValue(_warmup),
            SamplePeriod = result.GetValue(_sample),
            Penalty = result.GetValue(_penalty) * Microseconds,
            Headroom = result.GetValue(_headroom),
            Maximum = result.GetValue(_maximum),
            ModelPeriod = result.GetValue(_modelPeriod),
            QueuePeriod = result.GetValue(_queuePeriod),
            High = result.GetValue(_high),
            Low = result.GetValue(_low),
            CompareSeconds = result.GetValue(_compareSeconds),
            Steps = result.GetValue(_steps),
            Within = result.GetValue(_within) / 100,
        };
    }

    private static double[] PerStage(int count, double[]? given, double[] defaults, string name)
    {
        count = Math.Max(0, count);
        if (given is not { Length: > 0 })
            return [.. Enumerable.Range(0, count).Select(i => defaults[i % defaults.Length])];
        if (given.Length == 1)
            return [.. Enumerable.Repeat(given[0], count)];
        return given.Length == count
            ? given : throw new ArgumentException($"{name} has {given.Length} numbers for {count} stages: give one, or one for each.");
    }

    private static Option<T> New<T>(string name, string description, T value) =>
        new(name) { Description = description, DefaultValueFactory = _ => value };

    private static Option<double[]> NewList(string name, string description) =>
        new(name) { Description = description, AllowMultipleArgumentsPerToken = true };
}
