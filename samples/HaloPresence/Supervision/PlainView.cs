namespace HaloPresence.Supervision;

/// <summary>Progress as one line every five seconds, for redirected output.</summary>
public sealed class PlainView(TextWriter writer) : IProgressView
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(5);

    /// <inheritdoc/>
    public async Task ShowAsync(string title, RunTimeline timeline, Task run)
    {
        while (!run.IsCompleted)
        {
            await Task.WhenAny(run, Task.Delay(Period)).ConfigureAwait(false);
            writer.WriteLine($"{title}: {string.Join("  ", ProgressLine.Read(timeline).Select(pair => $"{pair.Name} {pair.Value}"))}");
        }
    }
}
