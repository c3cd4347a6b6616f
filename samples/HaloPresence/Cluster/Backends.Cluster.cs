using HaloPresence.Cluster;

namespace HaloPresence.Children;

/// <content>With the runtime in the build, the child processes run real silos.</content>
public static partial class Backends
{
    static partial void UseCluster(ref IBackend? backend) => backend = new ClusterBackend();
}
