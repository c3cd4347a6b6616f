using System.Globalization;
using System.Text;

namespace ActOp.Testing.Simulated;

/// <summary>Plays a test with many seeds, and tells of the first one that fails.</summary>
/// <remarks>Owns the counts of what was done. Only the thread that explores uses it; the runs are on that of the pump.</remarks>
internal sealed class Exploration(Func<SimulationWorld, Task> test, SimulationBudget budget)
{
    private const string NotOfTheSimulation = "Something in the test or in the grains is not of the simulation: the clock of the machine "
        + "(DateTime.UtcNow, Task.Delay without the TimeProvider), Guid.NewGuid, Random.Shared, real I/O, or a static that outlives a run.";

    private int _runs;
    private long _steps;
    private long _calls;
    private long _faults;
    private long _simulated;
    private long _breakAt;
    private ulong _hash;
    private readonly SortedDictionary<string, int> _situations = new(StringComparer.Ordinal);

    /// <exception cref="SimulationException">A run fails.</exception>
    internal SimulationReport Explore(int seeds)
    {
        for (ulong seed = 1; seed <= (ulong)seeds; seed++)
        {
            var outcome = Play(seed, RunPlan.All);
            if (outcome.Failure is not null)
                throw Tell(outcome, mayReduce: true);
            if (budget.CompareEvery > 0 && seed % (ulong)budget.CompareEvery == 0 && Play(seed, RunPlan.All).Hash != outcome.Hash)
                throw Differ(seed);
        }

        var never = _situations.Where(static one => one.Value == 0).Select(static one => "\"" + one.Key + "\"").ToArray();
        return never.Length == 0 ? Report() : throw Miss(string.Join(", ", never));
    }

    /// <exception cref="SimulationException">The run fails.</exception>
    /// <exception cref="FormatException">The step at which a debugger is to stop is none.</exception>
    internal SimulationReport Replay(ulong seed, RunPlan plan)
    {
        _breakAt = BreakStep();
        var outcome = Play(seed, plan);
        if (outcome.Failure is not null)
            throw Tell(outcome, mayReduce: false);
        if (Play(seed, plan).Hash != outcome.Hash)
            throw Differ(seed);
        return Report();
    }

    /// <summary>
    /// Plays one seed with each set of lost messages, those with few losses first. A set is played as the set without its last loss, and
    /// then one more of the messages after that loss; so each is played once, whatever the losses before it change.
    /// </summary>
    /// <exception cref="SimulationException">A run fails, and not all are to be counted.</exception>
    internal OmissionReport ExploreOmissions(int most, bool countsAll)
    {
        var waiting = new Queue<int[]>([[]]);
        var (schedules, failures, messages, isComplete) = (0, 0, 0, true);
        SimulationException? first = null;
        while (waiting.TryDequeue(out var lost))
        {
            schedules++;
            var outcome = Play(1, new RunPlan(lost.Select(RunPlan.Loss).ToHashSet(), null));
            messages = Math.Max(messages, outcome.Messages);
            if (outcome.Failure is not null)
            {
                failures++;
                if (!countsAll)
                    throw Tell(outcome, mayReduce: true);
                first ??= Tell(outcome, mayReduce: false);
            }

            for (var next = lost is [.., var last] ? last + 1 : 1; next <= outcome.Messages; next++)
            {
                // What would not be played need not be kept.
                if (isComplete &= schedules + waiting.Count < most)
                    waiting.Enqueue([.. lost, next]);
            }
        }

        return new OmissionReport(schedules, failures, messages, isComplete) { First = first };
    }

    private static long BreakStep()
    {
        var text = Environment.GetEnvironmentVariable(SimulatedRun.BreakVariable);
        if (string.IsNullOrEmpty(text))
            return 0;
        return long.TryParse(text, CultureInfo.InvariantCulture, out var step) && step > 0 ? step : throw new FormatException(
            SimulatedRun.BreakVariable + " is \"" + text + "\", which is no step: the lines of a story begin with theirs.");
    }

    private SimulationException Differ(ulong seed)
    {
        const string failure = "Two runs of one seed have different histories.";
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"The simulation with seed {seed} fails: {failure} {NotOfTheSimulation}");
        text.AppendLine("The first step that differs:").AppendLine();
        text.Append(Explain(seed, RunPlan.All)).AppendLine();
        text.Append(CultureInfo.InvariantCulture, $"Reproduce it: await Simulation.Replay({seed}, null, test);");
        return new SimulationException(seed, "", failure, text.ToString(), null);
    }

    private SimulationException Miss(string never)
    {
        var failure = string.Create(CultureInfo.InvariantCulture, $"In none of {_runs} runs was it ever so: {never}.");
        return new SimulationException(0, "", failure, failure + " So nothing is shown about it (SimulationWorld.Sometimes): play more"
            + " seeds, permit more faults, or look whether the test gets there at all.", null);
    }

    private string Explain(ulong seed, RunPlan plan) =>
        Divergence.Explain(trace => new SimulatedRun(seed, plan, budget, isRecorded: false, trace).Play(test));

    private SimulationReport Report() => new(_runs, _steps, _calls, _faults, new TimeSpan(_simulated))
    {
        Situations = _situations,
        Hash = _hash,
    };

    private RunOutcome Play(ulong seed, RunPlan plan, bool isRecorded = false)
    {
        var outcome = new SimulatedRun(seed, plan, budget, isRecorded) { BreakAt = _breakAt }.Play(test);
        _runs++;
        _steps += outcome.Steps;
        _hash = (_hash ^ outcome.Hash) * 1099511628211UL;
        _calls += outcome.Calls;
        _faults += outcome.Faults.Count;
        _simulated += outcome.Simulated.Ticks;
        foreach (var (text, isSo) in outcome.Situations)
            _situations[text] = _situations.GetValueOrDefault(text) + (isSo ? 1 : 0);
        return outcome;
    }

    /// <summary>Reduces a failure, plays it once more, and tells the story of that run.</summary>
    private SimulationException Tell(RunOutcome found, bool mayReduce)
    {
        var text = new StringBuilder();
        var counts = string.Create(
            CultureInfo.InvariantCulture, $"Found in run {_runs} with {found.Faults.Count} faults and {found.Commands.Count} commands");
        var reduced = found;
        if (mayReduce && found.Failure!.MayBeReduced && budget.ShrinkRuns > 0)
        {
            var shrinker = new Shrinker(plan => Play(found.Seed, plan), budget.ShrinkRuns, (long)budget.RealTime.TotalMilliseconds);
            reduced = shrinker.Reduce(found);
            // What may happen and does not is left out of the line that plays it again.
            reduced = reduced with { Plan = new RunPlan(reduced.Faults.ToHashSet(), reduced.Commands.ToHashSet()) };
            counts += string.Create(CultureInfo.InvariantCulture,
                $"; reduced to {reduced.Faults.Count} and {reduced.Commands.Count} in {shrinker.Runs} runs");
        }

        var failure = reduced.Failure!;
        var shown = failure.MayBeReduced ? Play(found.Seed, reduced.Plan, isRecorded: true) : reduced;
        text.AppendLine(CultureInfo.InvariantCulture, $"The simulation with seed {found.Seed} fails: {failure.Text}");
        text.AppendLine(counts + ".");
        if (shown.Failure?.Kind != failure.Kind)
        {
            text.AppendLine("The same seed played again "
                + (shown.Failure is { } other ? "fails otherwise: " + other.Text : "does not fail") + ". " + NotOfTheSimulation);
            text.AppendLine().Append(Explain(found.Seed, reduced.Plan));
        }

        text.AppendLine().Append(shown.Story).AppendLine();
        var lines = shown.Story?.Lines ?? [];
        if (budget.DiagramDirectory is { } directory)
            text.AppendLine("Drawn: " + Draw(directory, found.Seed, lines));
        var plan = reduced.Plan.ToString();
        text.Append(CultureInfo.InvariantCulture,
            $"Reproduce it: await Simulation.Replay({found.Seed}, {(plan.Length == 0 ? "null" : "\"" + plan + "\"")}, test);");
        return new SimulationException(found.Seed, plan, failure.Text, text.ToString(), failure.Cause)
        {
            FaultCount = reduced.Faults.Count,
            CommandCount = reduced.Commands.Count,
            Diagram = Diagram.Mermaid(lines),
        };
    }

    /// <summary>Writes the diagrams; what keeps it from that is told instead of them, for the failure matters more.</summary>
    private static string Draw(string directory, ulong seed, IReadOnlyList<StoryLine> lines)
    {
        try
        {
            Directory.CreateDirectory(directory);
            var path = Path.Combine(directory, "seed-" + seed.ToString(CultureInfo.InvariantCulture));
            File.WriteAllText(path + ".svg", Diagram.Svg(lines));
            File.WriteAllText(path + ".mmd", Diagram.Mermaid(lines));
            return path + ".svg and .mmd";
        }
        catch (Exception exception) when (exception is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return "not: " + exception.Message;
        }
    }
}
