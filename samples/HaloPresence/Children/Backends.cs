using HaloPresence.Options;

namespace HaloPresence.Children;

/// <summary>Chooses what the child processes run.</summary>
public static partial class Backends
{
    /// <summary>The backend for <paramref name="options"/>.</summary>
    /// <exception cref="InvalidOperationException">The sample was built without the runtime and no rehearsal was asked for.</exception>
    public static IBackend For(HaloOptions options)
    {
        if (options.Rehearse)
            return new RehearsalBackend();
        IBackend? cluster = null;
        UseCluster(ref cluster);
        return cluster ?? throw new InvalidOperationException("This build has no runtime: build with -p:WithRuntime=true, or pass --rehearse true.");
    }

    // Implemented in Cluster/, which is compiled only with the runtime.
    static partial void UseCluster(ref IBackend? backend);
}
