namespace Orleans;

/// <summary>Marks a grain whose key is a <see cref="Guid"/>.</summary>
public interface IGrainWithGuidKey : IGrain
{
}
