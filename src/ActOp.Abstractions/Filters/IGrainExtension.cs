namespace Orleans.Runtime;

/// <summary>Marks an interface that can be added to activations beside the grain's own.</summary>
public interface IGrainExtension : IAddressable
{
}
