using Orleans.GrainDirectory;
using Orleans.Metadata;

namespace Orleans.Runtime.GrainDirectory;

/// <summary>A service that chooses the grain directory of grain types. Asked before the attributes.</summary>
public interface IGrainDirectoryResolver
{
    /// <summary>The directory of the grain type; null with true for the one of the runtime; false if another must be asked.</summary>
    bool TryResolveGrainDirectory(GrainType grainType, GrainProperties? properties, out IGrainDirectory? grainDirectory);
}
