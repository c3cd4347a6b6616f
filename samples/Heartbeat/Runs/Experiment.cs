using System.CommandLine;
using Harness.Options;
using Harness.Supervision;
using Heartbeat.Options;

namespace Heartbeat.Runs;

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
        foreach (Option option in OwnOptions)
            command.Options.Add(option);
        _table.AddTo(command);
        _output = new OutputOptions(command, _json, _html);
        command.SetAction((parsed, cancellation) => CommandRun.RunAsync(_table.Read(parsed).FindError() ?? FindError(parsed), async () =>
        {
            await RunAsync(parsed, new CellRunner(_table.Read(parsed), ProgressView.ForConsole(leavesLine: true), cancellation)).ConfigureAwait(false);
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
