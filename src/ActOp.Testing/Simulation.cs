using System.Collections.ObjectModel;
using ActOp.Testing.Simulated;

namespace ActOp.Testing;

/// <summary>
/// Runs a test of an application's grains again and again in simulated clusters: the real silos on one thread, in virtual time, each run
/// from a number, the seed, which determines the order of all events and all faults.
/// </summary>
/// <remarks>
/// A simulation takes the thread pool of the process for itself, so only one runs at a time: a second one waits, and other tests of the
/// process must not block a thread of the pool meanwhile. Members may be called on any thread.
/// </remarks>
public static class Simulation
{
    /// <summary>Runs the test once for each of the seeds 1 to <paramref name="seeds"/>, until one fails.</summary>
    /// <param name="seeds">How many seeds; at least 1.</param>
    /// <param name="test">The test. It gets a new world for each run, and must keep nothing from one run to the next.</param>
    /// <param name="budget">Limits; null for the defaults.</param>
    /// <returns>What was done, if nothing was found.</returns>
    /// <exception cref="SimulationException">
    /// A run fails, or two runs of one seed differ: the message has the seed, the story, and a line that reproduces it. Or no run has
    /// reached a situation of <see cref="SimulationWorld.Sometimes"/>.
    /// </exception>
    /// <exception cref="ArgumentOutOfRangeException">There are no seeds, or a limit is not positive.</exception>
    public static Task<SimulationReport> Explore(int seeds, Func<SimulationWorld, Task> test, SimulationBudget? budget = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(seeds);
        ArgumentNullException.ThrowIfNull(test);
        var exploration = new Exploration(test, Checked(budget));
        return SimulationThread.Run(() => exploration.Explore(seeds));
    }

    /// <summary>Runs the test once, as it failed in an exploration of the same build.</summary>
    /// <param name="seed">The seed that failed.</param>
    /// <param name="plan">Which faults and commands remain, as the message of the failure says; null for all.</param>
    /// <param name="test">The test.</param>
    /// <param name="budget">Limits; null for the defaults.</param>
    /// <exception cref="SimulationException">The run fails again.</exception>
    /// <exception cref="FormatException">The plan is none that a message of a failure had.</exception>
    public static Task<SimulationReport> Replay(ulong seed, string? plan, Func<SimulationWorld, Task> test, SimulationBudget? budget = null)
    {
        ArgumentNullException.ThrowIfNull(test);
        var kept = RunPlan.Parse(plan);
        var exploration = new Exploration(test, Checked(budget));
        return SimulationThread.Run(() => exploration.Replay(seed, kept));
    }

    /// <summary>
    /// Runs the test with each set of lost messages, those with few losses first: a systematic search where <see cref="Explore"/> is a
    /// random one. A message is a call without an answer (<c>[OneWay]</c>); nothing else goes wrong, and the seed is 1 in all runs.
    /// </summary>
    /// <param name="test">
    /// The test. Silos that it does not need cost time: one is often enough (<see cref="SimulationSilos.Count"/>).
    /// </param>
    /// <param name="most">How many sets are played, at most; default 10,000. With n messages there are up to 2^n.</param>
    /// <param name="countAll">Goes on after a failure and counts; else the first one ends it.</param>
    /// <param name="budget">Limits; null for the defaults.</param>
    /// <exception cref="SimulationException">A run fails, and not all are to be counted.</exception>
    /// <exception cref="ArgumentOutOfRangeException">There are no sets, or a limit is not positive.</exception>
    public static Task<OmissionReport> ExploreOmissions(
        Func<SimulationWorld, Task> test, int most = 10_000, bool countAll = false, SimulationBudget? budget = null)
    {
        ArgumentNullException.ThrowIfNull(test);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(most);
        var exploration = new Exploration(test, Checked(budget));
        return SimulationThread.Run(() => exploration.ExploreOmissions(most, countAll));
    }

    private static SimulationBudget Checked(SimulationBudget? budget)
    {
        budget ??= new SimulationBudget();
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(budget.Steps);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(budget.VirtualTime, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(budget.RealTime, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfNegative(budget.StoryLines);
        ArgumentOutOfRangeException.ThrowIfNegative(budget.ShrinkRuns);
        ArgumentOutOfRangeException.ThrowIfNegative(budget.CompareEvery);
        return budget;
    }
}

/// <summary>Limits of a simulation. What reaches one fails and says what it waits for: no simulation hangs.</summary>
public sealed record SimulationBudget
{
    /// <summary>Steps of one run. Default 2,000,000: some minutes of virtual time of a small cluster.</summary>
    public long Steps { get; init; } = 2_000_000;

    /// <summary>Virtual time of one run. Default 10 minutes.</summary>
    public TimeSpan VirtualTime { get; init; } = TimeSpan.FromMinutes(10);

    /// <summary>
    /// Real time of one run, by the clock on the wall. Default 60 s: a run takes well below a second, so what takes longer computes without
    /// end, or another test of the process blocks the thread pool.
    /// </summary>
    public TimeSpan RealTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>
    /// Every so many seeds, a run is made twice and compared: what differs is not of the simulation. Default 20; 0 for never.
    /// </summary>
    public int CompareEvery { get; init; } = 20;

    /// <summary>
    /// Runs that reduce a failure to few faults and commands, at most. Default 200; 0 leaves a failure as it was found. Reducing ends after
    /// <see cref="RealTime"/>, too.
    /// </summary>
    public int ShrinkRuns { get; init; } = 200;

    /// <summary>Lines of a story, at most; the first and the last are shown. Default 80.</summary>
    public int StoryLines { get; init; } = 80;

    /// <summary>
    /// Where the story of a failure is drawn as a sequence diagram, <c>seed-N.svg</c> and <c>seed-N.mmd</c> (Mermaid). Default null: it is
    /// not drawn; <see cref="SimulationException.Diagram"/> has it in any case.
    /// </summary>
    public string? DiagramDirectory { get; init; }
}

/// <summary>What a simulation has done when it has found nothing.</summary>
/// <param name="Runs">Runs of the test.</param>
/// <param name="Steps">Steps of all runs.</param>
/// <param name="Calls">Calls of grains of the application that silos ran.</param>
/// <param name="Faults">Faults that happened.</param>
/// <param name="Simulated">Virtual time of all runs.</param>
public sealed record SimulationReport(int Runs, long Steps, long Calls, long Faults, TimeSpan Simulated)
{
    /// <summary>
    /// Over the histories of all runs, with the times of all steps: the same build plays the same on each machine and in each folder.
    /// </summary>
    public ulong Hash { get; init; }

    /// <summary>The situations of <see cref="SimulationWorld.Sometimes"/>, each with the number of runs in which it was so.</summary>
    public IReadOnlyDictionary<string, int> Situations { get; init; } = ReadOnlyDictionary<string, int>.Empty;
}

/// <summary>What <see cref="Simulation.ExploreOmissions"/> has found.</summary>
/// <param name="Schedules">Sets of lost messages that were played.</param>
/// <param name="Failures">Those with which the test failed.</param>
/// <param name="Messages">Messages of a run that might have been lost, at most.</param>
/// <param name="IsComplete">Whether these were all sets.</param>
public sealed record OmissionReport(int Schedules, int Failures, int Messages, bool IsComplete)
{
    /// <summary>The first failure, one with the fewest losses; null if there is none.</summary>
    public SimulationException? First { get; init; }
}

/// <summary>A run of a simulation has failed.</summary>
public sealed class SimulationException : Exception
{
    internal SimulationException(ulong seed, string plan, string failure, string message, Exception? cause)
        : base(message, cause)
    {
        Seed = seed;
        Plan = plan;
        Failure = failure;
    }

    /// <summary>The seed of the run; 0 if no run has failed, but none has reached a situation that the test looks for.</summary>
    public ulong Seed { get; }

    /// <summary>Which faults and commands the run has left, for <see cref="Simulation.Replay"/>.</summary>
    public string Plan { get; }

    /// <summary>What failed, in one line.</summary>
    public string Failure { get; }

    /// <summary>Faults of the world in the failing run that is told.</summary>
    public int FaultCount { get; internal init; }

    /// <summary>Commands of the test in it.</summary>
    public int CommandCount { get; internal init; }

    /// <summary>The story as a sequence diagram, in the language of Mermaid; empty if no run has failed.</summary>
    public string Diagram { get; internal init; } = "";
}
