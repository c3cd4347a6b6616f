namespace Orleans;

/// <summary>Marks a grain whose key is text.</summary>
public interface IGrainWithStringKey : IGrain
{
}
