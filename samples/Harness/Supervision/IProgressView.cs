namespace Harness.Supervision;

/// <summary>Shows a run while it goes on.</summary>
public interface IProgressView
{
    /// <summary>Shows what <paramref name="read"/> says until <paramref name="run"/> completes.</summary>
    Task ShowAsync(string title, Func<IReadOnlyList<(string Name, string Value)>> read, Task run);
}
