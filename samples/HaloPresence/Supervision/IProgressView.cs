namespace HaloPresence.Supervision;

/// <summary>Shows a run while it goes on.</summary>
public interface IProgressView
{
    /// <summary>Shows <paramref name="timeline"/> until <paramref name="run"/> completes.</summary>
    Task ShowAsync(string title, RunTimeline timeline, Task run);
}
