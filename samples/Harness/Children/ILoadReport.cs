namespace Harness.Children;

/// <summary>What a load client says.</summary>
public interface ILoadReport : ITimed
{
    /// <summary>Whether the load is over and this is the last report.</summary>
    bool IsDone { get; }
}
