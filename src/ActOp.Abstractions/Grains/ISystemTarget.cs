using Orleans.Runtime;

namespace Orleans;

/// <summary>Marks the interface of a part of the runtime that can be called like a grain and exists once per silo.</summary>
public interface ISystemTarget : IAddressable
{
}
