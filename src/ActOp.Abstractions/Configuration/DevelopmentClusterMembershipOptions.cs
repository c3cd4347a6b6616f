using System.Net;

namespace Orleans.Configuration;

/// <summary>Clustering without a store: one silo holds the membership table for all.</summary>
public class DevelopmentClusterMembershipOptions
{
    /// <summary>Where that silo listens; null when it is this one.</summary>
    public IPEndPoint? PrimarySiloEndpoint { get; set; }
}
