namespace Orleans;

/// <summary>Marks a grain whose key is a <see cref="Guid"/> and a text.</summary>
public interface IGrainWithGuidCompoundKey : IGrain
{
}
