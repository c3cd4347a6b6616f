namespace Orleans;

/// <summary>Marks a grain whose key is a 64-bit number.</summary>
public interface IGrainWithIntegerKey : IGrain
{
}
