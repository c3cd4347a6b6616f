namespace Orleans.Runtime;

/// <summary>Makes the objects of grains and takes them back.</summary>
public interface IGrainActivator
{
    /// <summary>Makes the object of an activation.</summary>
    object CreateInstance(IGrainContext context);

    /// <summary>Disposes of the object of an activation that has ended.</summary>
    ValueTask DisposeInstance(IGrainContext context, object instance);
}
