using ActOp.Calls;
using Orleans.Runtime;

namespace Orleans.Core.Internal;

/// <summary>Ends or moves a grain from outside: <c>grain.AsReference&lt;IGrainManagementExtension&gt;()</c>. Every grain has it.</summary>
/// <remarks>
/// Silos may call it, and clients if <see cref="ActOp.Configuration.ClientRightsOptions.Management"/> is set on the silos. Other clients
/// get an <see cref="UnauthorizedAccessException"/>.
/// </remarks>
[Callers(Callers.Administrators)]
public interface IGrainManagementExtension : IGrainExtension
{
    /// <summary>The activation ends when its running calls have ended.</summary>
    ValueTask DeactivateOnIdle();

    /// <summary>The activation moves, to the silo that placement chooses.</summary>
    ValueTask MigrateOnIdle();
}
