namespace Orleans.Concurrency;

/// <summary>No answer is sent: the caller goes on at once and never learns of an exception.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class OneWayAttribute : Attribute
{
}
