namespace Orleans.Concurrency;

/// <summary>Calls of the marked method change nothing and run beside other read-only calls of the same activation.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class ReadOnlyAttribute : Attribute
{
}
