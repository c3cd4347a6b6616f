namespace Orleans.Versions.Compatibility;

/// <summary>
/// Says which versions of an interface an activation of one version can serve; a director of the same strategy decides.
/// </summary>
/// <remarks>An own strategy is a keyed service under the name of its class, its director one under the type of the strategy.</remarks>
public abstract class CompatibilityStrategy
{
}

/// <summary>Decides for a <see cref="CompatibilityStrategy"/>.</summary>
public interface ICompatibilityDirector
{
    /// <summary>Whether a call through <paramref name="requestedVersion"/> may run on an activation of another version.</summary>
    /// <param name="requestedVersion">The caller's version, above 0.</param>
    /// <param name="currentVersion">The version on the activation's silo; 0 if it has none.</param>
    bool IsCompatible(ushort requestedVersion, ushort currentVersion);
}

/// <summary>The callee's version is the caller's or a later one. The default.</summary>
public sealed class BackwardCompatible : CompatibilityStrategy
{
    private BackwardCompatible()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static BackwardCompatible Singleton { get; } = new();
}

/// <summary>The callee's version is the caller's.</summary>
public sealed class StrictVersionCompatible : CompatibilityStrategy
{
    private StrictVersionCompatible()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static StrictVersionCompatible Singleton { get; } = new();
}

/// <summary>Every version can serve every other one.</summary>
public sealed class AllVersionsCompatible : CompatibilityStrategy
{
    private AllVersionsCompatible()
    {
    }

    /// <summary>The only instance needed.</summary>
    public static AllVersionsCompatible Singleton { get; } = new();
}
