using ActOp.Staging.Control;
using ActOp.Staging.Model;

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
            counted.Average(static sample => sample.Queued.Sum()), counted.Max(static sample => sample.Queued.Max()),
            counted.Average(static sample => sample.Threads.Sum()),
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

/// <summary>A controller of the silo at work on an emulated server, from time 0.</summary>
/// <param name="server">The server.</param>
/// <param name="controller">The controller.</param>
/// <param name="period">Seconds between decisions.</param>
internal sealed class ControlLoop(EmulatedServer server, IThreadController controller, double period)
{
    private int _decisions;

    /// <summary>How often a stage got another number of threads.</summary>
    public int Changes { get; private set; }

    /// <summary>Lets time pass, decisions included.</summary>
    public void RunUntil(double end)
    {
        while ((_decisions + 1) * period <= end)
        {
            _decisions++;
            server.RunUntil(_decisions * period);
            Decide();
        }

        server.RunUntil(end);
    }

    private void Decide()
    {
        var threads = controller.Decide([.. server.Stages.Select(stage => stage.Collect(period))]).Threads;
        for (var i = 0; i < threads.Count; i++)
        {
            if (threads[i] == server.Stages[i].Threads)
                continue;
            Changes++;
            server.SetThreads(i, threads[i]);
        }
    }
}

/// <summary>
/// Equation (1) of the paper against the emulated truth: what it predicts for the threads that the model chooses, what these threads really
/// do, and whether other threads near them do better.
/// </summary>
/// <param name="study">What to play.</param>
internal sealed class ProxyComparison(SedaStudy study)
{
    private const double WarmUpShare = 0.1;

    public ProxyReport Play(ServiceShape shape)
    {
        var plan = study.Plan with { Shape = shape };
        var chosen = Choose();
        Dictionary<string, (int[] Threads, double Latency)> emulated = [];
        double Latency(int[] threads)
        {
            var key = string.Join('/', threads);
            if (!emulated.TryGetValue(key, out var known))
                emulated.Add(key, known = (threads, Emulate(plan, threads)));
            return known.Latency;
        }

        var latency = Latency(chosen);
        var best = chosen;
        for (var step = 0; step < study.Steps; step++)
        {
            var next = Neighbours(best).MinBy(Latency)!;
            if (Latency(next) >= Latency(best))
                break;
            best = next;
        }

        var proxy = Proxy(chosen);
        var gap = (latency / Latency(best)) - 1;
        return new(
            shape.ToString(), ServiceTimes.SquaredVariation(shape), chosen, proxy, latency, latency / proxy,
            best, Latency(best), gap, gap <= study.Within, emulated.Count);
    }

    private int[] Choose()
    {
        var demands = study.Plan.Demands;
        return [.. new ThreadRounding(study.Model, 1, study.Maximum).Round(demands, study.Model.Solve(demands)).Threads];
    }

    /// <summary>The objective is the mean over visits, with the price of threads; a request visits all stages.</summary>
    private double Proxy(int[] threads) =>
        (study.Model.Objective(study.Plan.Demands,
            [.. threads.Select(static count => (double)count)]) - (study.Penalty * threads.Sum())) * threads.Length;

    private double Emulate(SedaPlan plan, int[] threads)
    {
        EmulatedServer server = new(plan, threads);
        LatencyRecord latencies = new(server, WarmUpShare * study.CompareSeconds);
        server.RunUntil(study.CompareSeconds);
        return latencies.Mean;
    }

    /// <summary>One thread more or less in one stage, or one moved from a stage to another, all stages stable.</summary>
    private IEnumerable<int[]> Neighbours(int[] threads)
    {
        for (var up = -1; up < threads.Length; up++)
        {
            for (var down = -1; down < threads.Length; down++)
            {
                if (up == down)
                    continue;
                int[] next = [.. threads.Select((count, i) => count + (i == up ? 1 : 0) - (i == down ? 1 : 0))];
                if (next.Select((count, i) => count >= 1 && count <= study.Maximum
                    && count > study.Plan.Demands[i].BusyThreads).All(static isStable => isStable))
                {
                    yield return next;
                }
            }
        }
    }
}
