namespace Harness.Supervision;

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
