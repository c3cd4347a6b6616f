namespace Harness.Children;

/// <summary>Something that a child process said at a time.</summary>
public interface ITimed
{
    /// <summary>Seconds on the machine's monotonic clock.</summary>
    double T { get; }
}
