namespace Orleans.Concurrency;

/// <summary>Calls of the marked method run beside any other calls of the same activation.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class AlwaysInterleaveAttribute : Attribute
{
}
