using Orleans.Runtime;

namespace Orleans;

/// <summary>Marks the interface of an object outside of the grains that grains can call.</summary>
public interface IGrainObserver : IAddressable
{
}
