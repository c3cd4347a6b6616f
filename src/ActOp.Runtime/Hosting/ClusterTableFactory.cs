using ActOp.Runtime.Cluster;

namespace ActOp.Runtime.Hosting;

/// <summary>Makes the membership table of a silo; registered by the clustering that the application chose.</summary>
internal delegate IClusterTable ClusterTableFactory(Node node);
