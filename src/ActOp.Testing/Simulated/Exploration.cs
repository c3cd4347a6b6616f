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
    internal SimulationReport Replay(ulong seed, RunPlan plan)
    {
        var outcome = Play(seed, plan);
        if (outcome.Failure is not null)
            throw Tell(outcome, mayReduce: false);
        if (Play(seed, plan).Hash != outcome.Hash)
            throw Differ(seed);
        return Report();
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

    private SimulationReport Report() => new(_runs, _steps, _calls, _faults, new TimeSpan(_simulated)) { Situations = _situations };

    private RunOutcome Play(ulong seed, RunPlan plan, bool isRecorded = false)
    {
        var outcome = new SimulatedRun(seed, plan, budget, isRecorded).Play(test);
        _runs++;
        _steps += outcome.Steps;
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
        var plan = reduced.Plan.ToString();
        text.Append(CultureInfo.InvariantCulture,
            $"Reproduce it: await Simulation.Replay({found.Seed}, {(plan.Length == 0 ? "null" : "\"" + plan + "\"")}, test);");
        return new SimulationException(found.Seed, plan, failure.Text, text.ToString(), failure.Cause);
    }
}
