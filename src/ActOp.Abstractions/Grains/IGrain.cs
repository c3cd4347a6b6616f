using Orleans.Runtime;

namespace Orleans;

/// <summary>Marks the interface of a grain.</summary>
public interface IGrain : IAddressable
{
}
