namespace Orleans.Runtime;

/// <summary>Anything that calls can be addressed to.</summary>
public interface IAddressable
{
}
