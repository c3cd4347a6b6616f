using Orleans.Runtime;

namespace Orleans.Core.Internal;

/// <summary>Ends or moves a grain from outside: <c>grain.AsReference&lt;IGrainManagementExtension&gt;()</c>. Every grain has it.</summary>
public interface IGrainManagementExtension : IGrainExtension
{
    /// <summary>The activation ends when its running calls have ended.</summary>
    ValueTask DeactivateOnIdle();

    /// <summary>The activation moves, to the silo that placement chooses.</summary>
    ValueTask MigrateOnIdle();
}
