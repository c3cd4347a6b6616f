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

    public ModelController NewModel() => new(new(Plan.Processors, Penalty) { Maximum = Maximum, Period = ModelPeriod, Headroom = Headroom });

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
        return needed >= plan.Processors ? $"The stages need {needed:0.##} of {plan.Processors} processors: queues would grow without end. Lower --rate or --compute." : null;
    }

    private static bool IsPositive(double number) => double.IsFinite(number) && number > 0;
}
