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

    /// <exception cref="SimulationException">A run fails.</exception>
    internal SimulationReport Explore(int seeds)
    {
        for (ulong seed = 1; seed <= (ulong)seeds; seed++)
        {
            var outcome = Play(seed, RunPlan.All);
            if (outcome.Failure is not null)
                throw Tell(outcome);
        }

        return Report();
    }

    /// <exception cref="SimulationException">The run fails.</exception>
    internal SimulationReport Replay(ulong seed, RunPlan plan)
    {
        var outcome = Play(seed, plan);
        return outcome.Failure is null ? Report() : throw Tell(outcome);
    }

    private SimulationReport Report() => new(_runs, _steps, _calls, _faults, new TimeSpan(_simulated));

    private RunOutcome Play(ulong seed, RunPlan plan, bool isRecorded = false)
    {
        var outcome = new SimulatedRun(seed, plan, budget, isRecorded).Play(test);
        _runs++;
        _steps += outcome.Steps;
        _calls += outcome.Calls;
        _faults += outcome.Faults.Count;
        _simulated += outcome.Simulated.Ticks;
        return outcome;
    }

    /// <summary>The failure is played once more, and its story is that of this run.</summary>
    private SimulationException Tell(RunOutcome found)
    {
        var runs = _runs;
        var shown = found.Failure!.Kind == "hang" ? found : Play(found.Seed, found.Plan, isRecorded: true);
        var failure = found.Failure!;
        var text = new StringBuilder();
        text.AppendLine(CultureInfo.InvariantCulture, $"The simulation with seed {found.Seed} fails: {failure.Text}");
        text.AppendLine(CultureInfo.InvariantCulture,
            $"Found in run {runs}: {shown.Faults.Count} faults, {shown.Commands.Count} commands, {shown.Steps} steps.");
        if (shown.Failure?.Kind != failure.Kind)
        {
            text.AppendLine("The same seed played again "
                + (shown.Failure is { } other ? "fails otherwise: " + other.Text : "does not fail") + ". " + NotOfTheSimulation);
        }

        text.AppendLine().Append(shown.Story).AppendLine();
        var plan = found.Plan.ToString();
        text.Append(CultureInfo.InvariantCulture,
            $"Reproduce it: await Simulation.Replay({found.Seed}, {(plan.Length == 0 ? "null" : "\"" + plan + "\"")}, test);");
        return new SimulationException(found.Seed, plan, failure.Text, text.ToString(), failure.Cause);
    }
}
