namespace Orleans.Diagnostics;

/// <summary>
/// Names of the sources of activities. Calls are traced on <see cref="ApplicationGrainActivitySourceName"/> for whoever listens to it, and
/// on ActOp.Runtime; the other sources are silent.
/// </summary>
public static class ActivitySources
{
    /// <summary>All sources.</summary>
    public const string AllActivitySourceName = "Microsoft.Orleans.*";

    /// <summary>Calls of the application.</summary>
    public const string ApplicationGrainActivitySourceName = "Microsoft.Orleans.Application";

    /// <summary>Durable jobs.</summary>
    public const string DurableJobsActivitySourceName = "Microsoft.Orleans.DurableJobs";

    /// <summary>Starts and ends of activations.</summary>
    public const string LifecycleActivitySourceName = "Microsoft.Orleans.Lifecycle";

    /// <summary>Calls of the runtime.</summary>
    public const string RuntimeActivitySourceName = "Microsoft.Orleans.Runtime";

    /// <summary>Grain storage.</summary>
    public const string StorageActivitySourceName = "Microsoft.Orleans.Storage";
}
