namespace Orleans.Configuration;

/// <summary>The directory, which knows where grains are active, and its cache.</summary>
public class GrainDirectoryOptions
{
    /// <summary>The default of <see cref="CacheSize"/>.</summary>
    public const int DEFAULT_CACHE_SIZE = 1_000_000;

    /// <summary>The default of <see cref="CachingStrategy"/>.</summary>
    public const CachingStrategyType DEFAULT_CACHING_STRATEGY = CachingStrategyType.LRU;

    /// <summary>The default of <see cref="LazyDeregistrationDelay"/>.</summary>
    public static readonly TimeSpan DEFAULT_UNREGISTER_RACE_DELAY = TimeSpan.FromMinutes(1);

    /// <summary>The default of <see cref="MaximumCacheTTL"/>.</summary>
    public static readonly TimeSpan DEFAULT_MAXIMUM_CACHE_TTL = TimeSpan.FromSeconds(240);

    /// <summary>What a silo does with locations that it has learned.</summary>
    public enum CachingStrategyType
    {
        /// <summary>It forgets them.</summary>
        None = 0,

        /// <summary>It keeps those used last.</summary>
        LRU = 1,

        /// <summary>It keeps those used last; kept for source compatibility.</summary>
        Adaptive = 2,

        /// <summary>The application provides the cache.</summary>
        Custom = 3,
    }

    /// <summary>The most locations that a silo keeps. Default: 1,000,000.</summary>
    public int CacheSize { get; set; } = DEFAULT_CACHE_SIZE;

    /// <summary>What a silo does with locations that it has learned. Default: keep those used last.</summary>
    public CachingStrategyType CachingStrategy { get; set; } = DEFAULT_CACHING_STRATEGY;

    /// <summary>How long the end of an activation that the directory has not heard of yet is remembered. Default: 1 min.</summary>
    public TimeSpan LazyDeregistrationDelay { get; set; } = DEFAULT_UNREGISTER_RACE_DELAY;

    /// <summary>How long a location is kept. Default: 4 min.</summary>
    public TimeSpan MaximumCacheTTL { get; set; } = DEFAULT_MAXIMUM_CACHE_TTL;
}
