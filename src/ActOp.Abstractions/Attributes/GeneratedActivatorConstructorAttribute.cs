using Microsoft.Extensions.DependencyInjection;

namespace Orleans;

/// <summary>The constructor that a generated activator calls.</summary>
[AttributeUsage(AttributeTargets.Constructor)]
public sealed class GeneratedActivatorConstructorAttribute : ActivatorUtilitiesConstructorAttribute
{
}
