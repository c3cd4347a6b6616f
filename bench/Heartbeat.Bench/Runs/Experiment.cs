using System.CommandLine;
using ActOp.Harness.Options;
using ActOp.Harness.Processes;
using ActOp.Harness.Reports;

namespace Heartbeat.Bench.Runs;

/// <summary>A command that runs cells: the common options, its own, and where its results go.</summary>
public abstract class Experiment
{
    private readonly HeartbeatOptionTable _table;
    private readonly string? _json;
    private readonly string? _html;
    private OutputOptions? _output;

    /// <summary>With the defaults of the common options and of the files for results.</summary>
    protected Experiment(HeartbeatOptions defaults, string? json = null, string? html = null)
    {
        _table = new HeartbeatOptionTable(defaults);
        _json = json;
        _html = html;
    }

    /// <summary>The options that only this command has.</summary>
    protected abstract IEnumerable<Option> OwnOptions { get; }

    /// <summary>Makes <paramref name="command"/> run this and returns it.</summary>
    public TCommand AttachTo<TCommand>(TCommand command) where TCommand : Command
    {
        foreach (var option in OwnOptions)
            command.Options.Add(option);
        _table.AddTo(command);
        _output = new OutputOptions(command, _json, _html);
        command.SetAction((parsed, cancellation) => CommandRun.RunAsync(_table.Read(parsed).FindError() ?? FindError(parsed), async () =>
        {
            await RunAsync(parsed,
                new CellRunner(_table.Read(parsed), ProgressView.ForConsole(leavesLine: true), cancellation)).ConfigureAwait(false);
            return 0;
        }));
        return command;
    }

    /// <summary>The first thing wrong with the command's own options; null when they are fine.</summary>
    protected virtual string? FindError(ParseResult parsed) => null;

    /// <summary>Runs the cells, prints and writes the results.</summary>
    protected abstract Task RunAsync(ParseResult parsed, CellRunner runner);

    /// <summary>Writes the results to the files that were asked for.</summary>
    protected void Write<T>(ParseResult parsed, T results, Func<string> render) => _output!.Write(parsed, results, render);
}

/// <summary>The options of a command that looks at one kind of request: what it costs, and the peak of which loads are shares.</summary>
public sealed class WorkChoice
{
    /// <summary>The most that a request may compute, in microseconds.</summary>
    public const double MostComputeUs = 1_000_000;

    /// <summary>The highest peak that can be given, in requests per second.</summary>
    public const double MostPeak = 1e7;

    private readonly Option<double> _blocking = new("--blocking")
    {
        Description = "Percent of the requests that block their thread.",
        DefaultValueFactory = _ => 0,
    };

    private readonly Option<double> _compute = ComputeOption();

    private readonly Option<double> _peak = new("--peak")
    {
        Description = "The baseline's peak in requests per second, of which loads are shares; 0 = search for it.",
        DefaultValueFactory = _ => 0,
    };

    /// <summary>All of them.</summary>
    public IReadOnlyList<Option> Options => [_blocking, _compute, _peak];

    /// <summary>The option that says what a request computes.</summary>
    public static Option<double> ComputeOption() => new("--compute-us")
    {
        Description = "Microseconds of processor time that every request uses in its turn. Paper: 200.",
        DefaultValueFactory = _ => 0,
    };

    /// <summary>What is wrong with the value of <see cref="ComputeOption"/>; null when it is fine.</summary>
    public static string? FindComputeError(double computeUs) =>
        computeUs is >= 0 and <= MostComputeUs ? null : $"--compute-us must be 0 to {MostComputeUs} microseconds, not {computeUs}.";

    /// <summary>The first thing wrong; null when all is fine.</summary>
    public string? FindError(ParseResult parsed)
    {
        var cell = Cell(parsed);
        var peak = parsed.GetValue(_peak);
        if (cell.BlockingPercent is not (>= 0 and <= 100)) return $"--blocking must be 0 to 100 percent, not {cell.BlockingPercent}.";
        if (peak is not (>= 0 and <= MostPeak)) return $"--peak must be 0 (search) to {MostPeak} requests per second, not {peak}.";
        return FindComputeError(cell.ComputeUs);
    }

    /// <summary>A cell with such requests.</summary>
    public CellOptions Cell(ParseResult parsed) => new()
    {
        BlockingPercent = parsed.GetValue(_blocking),
        ComputeUs = parsed.GetValue(_compute),
    };

    /// <summary>Requests per second of a load, after a search for the peak when none was given.</summary>
    public Task<double> RateAsync(ParseResult parsed, CellRunner runner, LoadLevel load)
    {
        var cell = Cell(parsed);
        return new Peaks(runner, [(cell.ComputeUs, parsed.GetValue(_peak))]).RateAsync(load, cell.ComputeUs, cell.BlockingPercent);
    }
}

/// <summary>The options of a command that looks at one load.</summary>
public sealed class LoadChoice(LoadLevel load)
{
    private readonly Option<LoadLevel> _load =
        new("--load")
        {
            Description = "low, middle or high: 50, 65 or 80 percent of the baseline's peak.",
            DefaultValueFactory =
            _ => load
        };
    private readonly WorkChoice _work = new();

    /// <summary>All of them.</summary>
    public IReadOnlyList<Option> Options => [_load, .. _work.Options];

    /// <summary>The first thing wrong; null when all is fine.</summary>
    public string? FindError(ParseResult parsed) => _work.FindError(parsed);

    /// <summary>A cell with such requests.</summary>
    public CellOptions Cell(ParseResult parsed) => _work.Cell(parsed);

    /// <summary>Requests per second, after a search for the peak when none was given.</summary>
    public Task<double> RateAsync(ParseResult parsed, CellRunner runner) => _work.RateAsync(parsed, runner, parsed.GetValue(_load));
}
