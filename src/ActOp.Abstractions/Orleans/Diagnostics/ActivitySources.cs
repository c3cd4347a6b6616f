namespace Orleans.Diagnostics;

/// <summary>
/// Names of the sources of activities. Calls are traced on ActOp.Runtime or, for who listens only to that,
/// <see cref="ApplicationGrainActivitySourceName"/>; the runtime's own calls and durable jobs have no activities.
/// </summary>
public static class ActivitySources
{
    /// <summary>All sources.</summary>
    public const string AllActivitySourceName = "Microsoft.Orleans.*";

    /// <summary>Calls of the application.</summary>
    public const string ApplicationGrainActivitySourceName = "Microsoft.Orleans.Application";

    /// <summary>Durable jobs.</summary>
    public const string DurableJobsActivitySourceName = "Microsoft.Orleans.DurableJobs";

    /// <summary>Placement, starts, ends and moves of activations.</summary>
    public const string LifecycleActivitySourceName = "Microsoft.Orleans.Lifecycle";

    /// <summary>Calls of the runtime; silent.</summary>
    public const string RuntimeActivitySourceName = "Microsoft.Orleans.Runtime";

    /// <summary>Grain storage.</summary>
    public const string StorageActivitySourceName = "Microsoft.Orleans.Storage";
}
