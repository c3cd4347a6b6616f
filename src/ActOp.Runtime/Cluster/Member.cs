using System.Net;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>One silo as a view shows it.</summary>
/// <param name="Silo">Its address.</param>
/// <param name="Name">Its name.</param>
/// <param name="Status">Its status in that view.</param>
/// <param name="Gateway">Where clients connect, or null when it takes none.</param>
/// <param name="Cause">Why it is dead, if it is.</param>
internal sealed record Member(SiloAddress Silo, string Name, SiloStatus Status, IPEndPoint? Gateway, DeathCause Cause)
{
    /// <summary>Whether the silo may run turns: it is active, or on its way out.</summary>
    public bool MayHost => Status is SiloStatus.Active or SiloStatus.ShuttingDown or SiloStatus.Stopping;
}
