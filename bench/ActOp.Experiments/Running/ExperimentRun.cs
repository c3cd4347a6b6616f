using System.Globalization;
using ActOp.Experiments.Results;
using ActOp.Harness.Load;

namespace ActOp.Experiments.Running;

/// <summary>What to run.</summary>
/// <param name="Chosen">The experiments.</param>
/// <param name="Minutes">How long all of them may take together; null for their full length.</param>
/// <param name="Folder">Where each result goes as soon as it is there.</param>
/// <param name="Resumes">Whether results of the same version and length are kept and not measured again.</param>
/// <param name="AtOnce">How many are played at the same time.</param>
internal sealed record RunSettings(IReadOnlyList<Experiment> Chosen, double? Minutes, string Folder, bool Resumes, int AtOnce = 1)
{
    /// <summary>The length as a multiple of the full one.</summary>
    internal double Scale => Minutes is { } minutes ? minutes / Chosen.Sum(static one => one.Minutes) : 1;
}

/// <summary>
/// Runs experiments, one after the other unless the settings say otherwise. One that fails is a result that says so, and the others go on.
/// </summary>
internal sealed class ExperimentRun(RunSettings settings)
{
    private readonly MonotonicClock _clock = new();

    /// <summary>The results, those of an interrupted run so far.</summary>
    internal async Task<IReadOnlyList<ExperimentResult>> RunAsync(CancellationToken cancellation)
    {
        var before = settings.Resumes ? ExperimentResult.ReadAll(settings.Folder) : [];
        var results = new ExperimentResult?[settings.Chosen.Count];
        var order = new ParallelOptions { MaxDegreeOfParallelism = settings.AtOnce };
        await Parallel.ForEachAsync(Enumerable.Range(0, results.Length), order, async (index, _) =>
        {
            if (!cancellation.IsCancellationRequested)
                results[index] = await ResultAsync(before, index, cancellation);
        });
        return [.. results.OfType<ExperimentResult>()];
    }

    /// <summary>A result that is kept, or a new one; null if it was interrupted.</summary>
    private async Task<ExperimentResult?> ResultAsync(
        IReadOnlyDictionary<string, ExperimentResult> before, int index, CancellationToken cancellation)
    {
        var experiment = settings.Chosen[index];
        if (before.TryGetValue(experiment.Name, out var kept) && !kept.HasFailed && kept.Version == Versions.Find()
            && kept.Command == CommandOf(experiment))
        {
            Console.WriteLine($"{experiment.Name}: {kept.Verdict} (kept from {kept.Date:yyyy-MM-dd HH:mm})");
            return kept;
        }

        var result = await RunAsync(experiment, index, cancellation);
        result?.WriteTo(settings.Folder);
        return result;
    }

    /// <summary>Null if it was interrupted.</summary>
    private async Task<ExperimentResult?> RunAsync(Experiment experiment, int index, CancellationToken cancellation)
    {
        var begin = _clock.Now;
        var left = settings.Scale * settings.Chosen.Skip(index).Sum(static one => one.Minutes);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"[{index + 1}/{settings.Chosen.Count}] {experiment.Name}: {experiment.Source} (about {left:0.0} minutes left)"));
        var play = new Play(settings.Scale,
            command => Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"  {(_clock.Now - begin).TotalSeconds,5:0} s  {command}")),
            cancellation);
        Outcome outcome;
        string verdict;
        try
        {
            outcome = await experiment.PlayAsync(play);
            verdict = ExperimentResult.VerdictOf(outcome.Measures);
        }
        catch (OperationCanceledException) when (cancellation.IsCancellationRequested)
        {
            Console.WriteLine($"{experiment.Name}: interrupted");
            return null;
        }
        catch (Exception failure) when (failure is not OutOfMemoryException)
        {
            // Whatever a program has written that is not what was expected: the other experiments must not be lost for it.
            outcome = new Outcome([], []);
            verdict = ExperimentResult.Failed + failure.Message;
        }

        Console.WriteLine($"{experiment.Name}: {verdict.Split('\n')[0]}");
        return new ExperimentResult
        {
            Name = experiment.Name,
            Source = experiment.Source,
            Verdict = verdict,
            Measures = outcome.Measures,
            Charts = outcome.Charts,
            Notes = outcome.Notes,
            Command = CommandOf(experiment),
            Programs = play.Programs,
            Seconds = Math.Round((_clock.Now - begin).TotalSeconds),
            Date = TimeProvider.System.GetUtcNow(),
        };
    }

    private string CommandOf(Experiment experiment) => settings.Minutes is null ? experiment.Command
        : string.Create(CultureInfo.InvariantCulture, $"{experiment.Command} --minutes {settings.Scale * experiment.Minutes:0.0#}");
}
