using System.Globalization;

namespace ActOp.Testing.Simulated;

/// <summary>
/// Reduces a failure: leaves out faults, then commands of the test, by delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating
/// Failure-Inducing Input", 2002), as long as the run fails in the same way.
/// </summary>
/// <remarks>
/// Owns the count of its runs and the smallest failure so far. A step that a smaller plan does not reach is no fault of it, so each plan is
/// played as a whole. Only the thread that explores uses it.
/// </remarks>
/// <param name="play">Plays the seed with a plan.</param>
/// <param name="mostRuns">Runs, at most; then the smallest failure so far is the result.</param>
/// <param name="mostTime">Milliseconds of real time, at most; the same.</param>
internal sealed class Shrinker(Func<RunPlan, RunOutcome> play, int mostRuns, long mostTime)
{
    /// <summary>Earlier moments that are tried for a fault.</summary>
    private const int MostMoves = 4;

    /// <summary>Moments by which faults are tried later when one before them is left out.</summary>
    private const int MostDelay = 2;

    /// <summary>The letter of moments that come with time, not with commands.</summary>
    private const char SliceOfTime = 't';

    private readonly long _until = Environment.TickCount64 + mostTime;
    private RunOutcome _best = null!;
    private int _moves;

    internal int Runs { get; private set; }

    /// <summary>The failure with as few faults and commands as were found; the failure itself if none can be left out.</summary>
    internal RunOutcome Reduce(RunOutcome found)
    {
        _best = found;
        int before;
        do
        {
            before = _best.Faults.Count + _best.Commands.Count;
            Minimize(_best.Faults, faults => StillFails(faults, _best.Commands), () => _best.Faults);
            Minimize(
                _best.Commands, commands => StillFails(_best.Faults, commands) || StillFailsEarlier(commands), () => _best.Commands);
            LeaveOutAndDelay();
            MoveFaults();
        }
        while (!IsOver && (_best.Faults.Count + _best.Commands.Count < before || HasMoved()));
        return _best;
    }

    /// <summary>A fault of the ninth call needs nine calls. It is tried at earlier moments, so that fewer commands reach it.</summary>
    private void MoveFaults()
    {
        foreach (var fault in _best.Faults)
        {
            if (RunPlan.IsLoss(fault))
                continue;
            for (var earlier = 1; earlier < Math.Min(MomentOf(fault).Number, MostMoves + 1); earlier++)
            {
                if (!StillFails([.. _best.Faults.Where(one => one != fault), RunPlan.MovedTo(fault, earlier)], _best.Commands))
                    continue;
                _moves++;
                break;
            }
        }
    }

    /// <summary>
    /// A fault of the ninth call, of which five belong to commands that are left out, is that of the fourth one then.
    /// </summary>
    private bool StillFailsEarlier(IReadOnlyList<int> commands)
    {
        List<string> faults = [];
        foreach (var fault in _best.Faults)
        {
            var (kind, number) = MomentOf(fault);
            var owners = _best.Moments[kind];
            if (kind == SliceOfTime || owners[number - 1] == RandomFaults.NoCommand)
            {
                faults.Add(fault);
                continue;
            }

            if (!commands.Contains(owners[number - 1]))
                continue;
            var earlier = owners.Take(number).Count(one => one == RandomFaults.NoCommand || commands.Contains(one));
            faults.Add(RunPlan.MovedTo(fault, earlier));
        }

        return !faults.SequenceEqual(_best.Faults) && StillFails(faults, commands);
    }

    /// <summary>
    /// A message that is not lost is answered: what would be the ninth message without it is the tenth one then.
    /// </summary>
    private void LeaveOutAndDelay()
    {
        foreach (var left in _best.Faults)
        {
            string[] others = [.. _best.Faults.Where(one => one != left)];
            for (var later = 1; later <= MostDelay; later++)
            {
                var delayed = Array.ConvertAll(others, one => Delayed(one, MomentOf(left), later));
                if (!delayed.SequenceEqual(others) && StillFails(delayed, _best.Commands))
                    return;
            }
        }
    }

    /// <summary>A fault of the same kind that comes after a moment, later; another one as it is.</summary>
    private static string Delayed(string fault, (char Kind, int Number) after, int later)
    {
        var (kind, number) = MomentOf(fault);
        return kind == after.Kind && number > after.Number ? RunPlan.MovedTo(fault, number + later) : fault;
    }

    private static (char Kind, int Number) MomentOf(string fault)
    {
        var moment = RunPlan.MomentOf(fault);
        return (moment[0], int.Parse(moment[1..], CultureInfo.InvariantCulture));
    }

    private bool HasMoved()
    {
        var hasMoved = _moves > 0;
        _moves = 0;
        return hasMoved;
    }

    private bool IsOver => Runs >= mostRuns || Environment.TickCount64 > _until;

    private bool StillFails(IEnumerable<string> faults, IEnumerable<int> commands)
    {
        if (IsOver)
            return false;
        Runs++;
        var outcome = play(new RunPlan(faults.ToHashSet(), commands.ToHashSet()));
        if (outcome.Failure?.Kind != _best.Failure!.Kind)
            return false;
        _best = outcome;
        return true;
    }

    /// <summary>Leaves out ever smaller parts of what the smallest failure has.</summary>
    /// <param name="items">All of it.</param>
    /// <param name="fails">Whether a run with these items only fails in the same way.</param>
    /// <param name="current">What the smallest failure has now, which may be less than what it was permitted.</param>
    private static void Minimize<T>(IReadOnlyList<T> items, Func<IReadOnlyList<T>, bool> fails, Func<IReadOnlyList<T>> current)
    {
        if (items.Count == 0 || fails([]))
            return;
        for (var parts = 2; items.Count > 0;)
        {
            var size = (items.Count + parts - 1) / parts;
            var from = 0;
            while (from < items.Count && !fails([.. items.Take(from), .. items.Skip(from + size)]))
                from += size;
            if (from < items.Count)
                (items, parts) = (current(), Math.Max(2, parts - 1));
            else if (size == 1)
                return;
            else
                parts = Math.Min(items.Count, 2 * parts);
        }
    }
}
