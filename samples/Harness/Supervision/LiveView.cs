using Spectre.Console;

namespace Harness.Supervision;

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
        Table table = new Table().RoundedBorder().Title(Markup.Escape(title)).HideHeaders().AddColumn("").AddColumn("");
        foreach ((string name, string value) in read())
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        return table;
    }
}
