using System.Globalization;
using ActOp.Harness.Load;
using Spectre.Console;

namespace ActOp.Harness.Processes;

/// <summary>Shows a run while it goes on.</summary>
public interface IProgressView
{
    /// <summary>Shows what <paramref name="read"/> says until <paramref name="run"/> completes.</summary>
    Task ShowAsync(string title, Func<IReadOnlyList<(string Name, string Value)>> read, Task run);
}

/// <summary>Chooses how to show progress.</summary>
public static class ProgressView
{
    /// <summary>
    /// In place on a terminal, line by line elsewhere. For many short runs what was shown in place can leave one line only.
    /// </summary>
    public static IProgressView ForConsole(bool leavesLine = false) =>
        Console.IsOutputRedirected ? new PlainView(Console.Out) : new LiveView(leavesLine);
}

/// <summary>Progress as a table that refreshes in place, for a terminal.</summary>
/// <param name="leavesLine">Whether the last state stays as one line instead of the table.</param>
public sealed class LiveView(bool leavesLine) : IProgressView
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(500);

    /// <inheritdoc/>
    public async Task ShowAsync(string title, Func<IReadOnlyList<(string Name, string Value)>> read, Task run)
    {
        await AnsiConsole.Live(Draw(title, read)).AutoClear(leavesLine).StartAsync(async context =>
        {
            while (!run.IsCompleted)
            {
                context.UpdateTarget(Draw(title, read));
                await Task.WhenAny(run, Task.Delay(Period)).ConfigureAwait(false);
            }
            context.UpdateTarget(Draw(title, read));
        }).ConfigureAwait(false);
        if (leavesLine)
            AnsiConsole.WriteLine(PlainView.Line(title, read()));
    }

    private static Table Draw(string title, Func<IReadOnlyList<(string Name, string Value)>> read)
    {
        var table = new Table().RoundedBorder().Title(Markup.Escape(title)).HideHeaders().AddColumn("").AddColumn("");
        foreach ((var name, var value) in read())
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        return table;
    }
}

/// <summary>Progress as one line every five seconds, for redirected output.</summary>
public sealed class PlainView(TextWriter writer) : IProgressView
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(5);

    /// <inheritdoc/>
    public async Task ShowAsync(string title, Func<IReadOnlyList<(string Name, string Value)>> read, Task run)
    {
        while (!run.IsCompleted)
        {
            await Task.WhenAny(run, Task.Delay(Period)).ConfigureAwait(false);
            writer.WriteLine(Line(title, read()));
        }
    }

    /// <summary>The state as one line.</summary>
    internal static string Line(string title, IReadOnlyList<(string Name, string Value)> state) =>
        $"{title}: {string.Join("  ", state.Select(pair => $"{pair.Name} {pair.Value}"))}";
}

/// <summary>The names and values that the views of several programs have.</summary>
public static class ProgressTexts
{
    /// <summary>Before the first report.</summary>
    public static IReadOnlyList<(string Name, string Value)> Starting { get; } = [("phase", "starting")];

    /// <summary>Median and 99th percentile in milliseconds; null for none yet.</summary>
    public static (string Name, string Value) Latency(LatencySummary? milliseconds) => ("p50 / p99 ms", milliseconds is null
        ? "-" : string.Create(CultureInfo.InvariantCulture, $"{milliseconds.P50:0.00} / {milliseconds.P99:0.00}"));

    /// <summary>A number of things, with separators of thousands.</summary>
    public static (string Name, string Value) Count(string name, double count) => (name, count.ToString("N0", CultureInfo.InvariantCulture));
}
