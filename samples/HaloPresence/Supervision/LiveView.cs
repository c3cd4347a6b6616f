using Spectre.Console;

namespace HaloPresence.Supervision;

/// <summary>Progress as a table that refreshes in place, for a terminal.</summary>
public sealed class LiveView : IProgressView
{
    private static readonly TimeSpan Period = TimeSpan.FromMilliseconds(500);

    /// <inheritdoc/>
    public Task ShowAsync(string title, RunTimeline timeline, Task run) =>
        AnsiConsole.Live(Draw(title, timeline)).StartAsync(async context =>
        {
            while (!run.IsCompleted)
            {
                context.UpdateTarget(Draw(title, timeline));
                await Task.WhenAny(run, Task.Delay(Period)).ConfigureAwait(false);
            }
            context.UpdateTarget(Draw(title, timeline));
        });

    private static Table Draw(string title, RunTimeline timeline)
    {
        Table table = new Table().RoundedBorder().Title(Markup.Escape(title)).HideHeaders().AddColumn("").AddColumn("");
        foreach ((string name, string value) in ProgressLine.Read(timeline))
            table.AddRow(Markup.Escape(name), Markup.Escape(value));
        return table;
    }
}
