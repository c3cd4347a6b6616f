using ActOp.Staging.Control;

namespace ActOp.Lab.Seda;

/// <summary>The same requests under each controller.</summary>
/// <param name="study">What to play.</param>
internal sealed class ControllerComparison(SedaStudy study)
{
    public ControllerReport PlayFixed() => Play("fixed", study.NewFixed(), study.ModelPeriod);

    public ControllerReport PlayQueueLength() => Play("queueLength", study.NewQueueLength(), study.QueuePeriod);

    public ControllerReport PlayModel() => Play("model", study.NewModel(), study.ModelPeriod);

    private ControllerReport Play(string name, IThreadController controller, double period)
    {
        EmulatedServer server = new(study.Plan, study.Plan.ThreadsLikeProcessors);
        ControlLoop loop = new(server, controller, period);
        LatencyRecord latencies = new(server, study.WarmUp);
        List<SedaSample> samples = [Look(server)];
        Watch(server, loop, study.WarmUp, samples);
        var (warm, changesBefore, usedBefore) = (samples.Count, loop.Changes, server.ProcessorSeconds);
        Watch(server, loop, study.Seconds, samples);
        var seconds = study.Seconds - study.WarmUp;
        var counted = samples[warm..];
        return new(
            name, (loop.Changes - changesBefore) / seconds * 3600, latencies.Mean, latencies.Quantile(0.5), latencies.Quantile(0.99),
            counted.Average(static sample => sample.Queued.Sum()), counted.Max(static sample => sample.Queued.Max()), counted.Average(static sample => sample.Threads.Sum()),
            (server.ProcessorSeconds - usedBefore) / seconds, latencies.Count, samples);
    }

    private void Watch(EmulatedServer server, ControlLoop loop, double end, List<SedaSample> samples)
    {
        while (server.Now < end)
        {
            loop.RunUntil(Math.Min(end, server.Now + study.SamplePeriod));
            samples.Add(Look(server));
        }
    }

    private static SedaSample Look(EmulatedServer server) =>
        new(server.Now, [.. server.Stages.Select(static stage => stage.Queued)], [.. server.Stages.Select(static stage => stage.Threads)]);
}
