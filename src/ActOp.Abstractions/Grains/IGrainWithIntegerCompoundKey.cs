namespace Orleans;

/// <summary>Marks a grain whose key is a 64-bit number and a text.</summary>
public interface IGrainWithIntegerCompoundKey : IGrain
{
}
